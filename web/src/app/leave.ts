// Goes to another page and resolves when the present one has been left, so that what it showed is not loaded again.
import { go } from './router'

export async function leave(path: string[]): Promise<void> {
  const left = new Promise((resolve) => window.addEventListener('hashchange', resolve, { once: true }))
  go(path)
  await left
  await new Promise((resolve) => window.setTimeout(resolve))
}
