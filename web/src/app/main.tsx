import { render } from 'preact'
import '@preact/signals'
import { connectionLost, epoch } from '../api/connection'
import { runLive } from '../api/live'
import { loadSession, session } from '../api/session'
import '../ui/style.css'
import { listenToKeys } from './keys'
import { Layout } from './layout'
import { namespace, setQuery } from './router'
import { effect } from '@preact/signals'

// The session is requested before anything else, and again when the server is back: it may be another one now.
effect(() => {
  void epoch.value
  loadSession().catch(() => connectionLost())
})

// A token that may not use the namespace of the address shows the first that it may use.
effect(() => {
  const allowed = session.value?.token?.namespaces
  if (allowed?.[0] !== undefined && !allowed.includes(namespace.value)) setQuery({ ns: allowed[0] })
})

let drawn = false
effect(() => {
  if (drawn || !session.value) return
  drawn = true
  render(<Layout />, document.getElementById('app')!)
})
runLive()
listenToKeys()
