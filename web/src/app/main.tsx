import { render } from 'preact'
import '@preact/signals'
import { connectionLost, epoch } from '../api/connection'
import { runLive } from '../api/live'
import { loadSession, session } from '../api/session'
import '../ui/style.css'
import { listenToKeys } from './keys'
import { Layout } from './layout'
import { effect } from '@preact/signals'

// The session is loaded before anything else is asked for, and again when the server is back: it may be another one now.
effect(() => {
  void epoch.value
  loadSession().catch(() => connectionLost())
})

let drawn = false
effect(() => {
  if (drawn || !session.value) return
  drawn = true
  render(<Layout />, document.getElementById('app')!)
})
runLive()
listenToKeys()
