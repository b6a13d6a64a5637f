// The server's cost of one open page of the web UI: its stream is followed over HTTPS while an object is updated at a steady
// rate. The processor time without a page is subtracted.
import { setTimeout as delay } from 'node:timers/promises'
import { readFile } from 'node:fs/promises'
import { startUp, type RunningUp } from '../test/process.ts'
import { logIn, type Browser } from '../test/ui/browser.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const turnMs = 10_000
const rounds = 3
/** An update is a call and a write: two messages. */
const messagesPerUpdate = 2
const messagesPerSecond = 100

/** Updates at a steady rate for a turn; returns the server's processor time. */
async function costMs({ pid }: RunningUp, writer: Browser): Promise<number> {
  const before = processorMs(pid)
  const updates = (messagesPerSecond / messagesPerUpdate) * (turnMs / 1_000)
  const start = performance.now()
  for (let update = 0; update < updates; update++) {
    await writer.call('PUT', `${maps}/a`, { metadata: { name: 'a' }, data: { update: String(update) } })
    const dueMs = ((update + 1) * turnMs) / updates
    await delay(Math.max(0, dueMs - (performance.now() - start)))
  }
  return processorMs(pid) - before
}

export const uiBench: Bench = {
  name: 'ui',
  async *run() {
    await using up = await startUp('--nodes', '0', '--store', 'memory')
    const kubeconfig = await readFile(up.kubeconfig, 'utf8')
    const writer = await logIn(kubeconfig)
    const page = await logIn(kubeconfig)
    await writer.call('POST', maps, { metadata: { name: 'a' } })
    await costMs(up, writer)
    let open = 0
    let closed = 0
    let lines = 0
    for (let round = 0; round < rounds; round++) {
      closed += await costMs(up, writer)
      let isOpen = true
      const following = page.follow('/ui/api/stream?past=0', () => !isOpen)
      open += await costMs(up, writer)
      isOpen = false
      await writer.call('DELETE', `${maps}/none`)
      lines += (await following).filter(({ kind }) => kind === 'event').length
    }
    const share = ((open - closed) / (rounds * turnMs)) * 100
    yield `one open page costs the server ${share.toFixed(1)} % of a core at ${messagesPerSecond} messages/s (${(closed / rounds / 100).toFixed(1)} % without it), ${(lines / rounds / (turnMs / 1_000)).toFixed(0)} events/s received`
  },
}
