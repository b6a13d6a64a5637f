// The page of the web UI in Chromium with 5,000 pods: the time until its first view, what the open page costs the server while the pods are
// at rest, and while they are rolled its frame rate in each view. Processor times and sizes are given too, because a busy machine distorts them less. BENCH_SCALE=0.1 rolls a tenth
// of the pods.
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { startUp } from '../test/process.ts'
import { logIn, loginCode, type Browser } from '../test/ui/browser.ts'
import { buildPage, openBrowser, openSession } from '../test/ui/chromium.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const deployments = 10
const podsPerDeployment = Math.round(500 * scale)
const pods = deployments * podsPerDeployment
const podsPerNode = 100
const readyMsMax = 900_000
const measuredMs = 10_000
/** The overview reads the problems of 5,000 pods every 30 s, so that is measured twice. */
const restMs = 60_000
/** On a busy machine, the page may be slow. */
const pageMsMax = 120_000
const path = '/apis/apps/v1/namespaces/default/deployments'

const deployment = 'objects?resource=deployments.apps&object=deployments/default/d-0'
const views = [
  ['overview', 'overview'],
  ['flows', 'flows'],
  ['flow of a Deployment', 'flows?object=deployments/default/d-0'],
  ['map', 'map'],
  ['objects', 'objects'],
  ['summary of a Deployment', `${deployment}&tab=Summary`],
  ['relations of a Deployment', `${deployment}&tab=Relations`],
] as const

const template = (round: number): object => ({
  metadata: { labels: { app: 'd' }, annotations: { round: String(round) } },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'nginx' }] },
})

/** Waits until all pods are ready. */
async function allReady(user: Browser): Promise<void> {
  const limitMs = performance.now() + readyMsMax
  for (let ready = -1; ready < pods;) {
    if (performance.now() > limitMs) throw new Error(`only ${ready} of ${pods} pods are ready`)
    await delay(1_000)
    const { body } = await user.call('GET', path)
    const items = body.items as readonly { status?: { readyReplicas?: number } }[]
    ready = items.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0)
  }
}

const roll = async (user: Browser, round: number): Promise<void> => {
  for (let at = 0; at < deployments; at++)
    await user.call(
      'PATCH',
      `${path}/d-${at}`,
      { spec: { template: template(round) } },
      {
        'content-type': 'application/merge-patch+json',
      },
    )
}

interface FirstView {
  /** From the request of the page until its first message is drawn, as the browser measures it. */
  readonly ms: number
  readonly paintMs: number
  /** Processor time until then: of the page's main thread, and of the server. */
  readonly pageMs: number
  readonly serverMs: number
  readonly requests: number
}

async function firstView(
  page: Page,
  session: CDPSession,
  origin: string,
  pid: number,
  fragment: string,
): Promise<FirstView> {
  await page.goto('about:blank')
  const seconds = await taskSeconds(session)
  const serverMs = processorMs(pid)
  await page.goto(`${origin}/ui/#${fragment}`, { waitUntil: 'commit' })
  const drawn = await page.waitForFunction(() => {
    if (document.querySelector('[data-event], .tile') === null) return undefined
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    const requests = performance.getEntriesByType('resource').length + 1
    return { ms: performance.now(), paintMs: paint?.startTime ?? 0, requests }
  })
  const endSeconds = await taskSeconds(session)
  const endMs = processorMs(pid)
  const measured = (await drawn.jsonValue()) as Pick<FirstView, 'ms' | 'paintMs' | 'requests'>
  return { ...measured, pageMs: (endSeconds - seconds) * 1_000, serverMs: endMs - serverMs }
}

/** Runs in the page. */
const isShown = (): boolean => document.querySelector('[data-event], [data-pod], tr[data-name], .tile') !== null

const firstViewText = ({ ms, paintMs, pageMs, serverMs, requests }: FirstView): string =>
  `${ms.toFixed(0)} ms (something painted after ${paintMs.toFixed(0)} ms; main thread ${pageMs.toFixed(0)} ms, server ${serverMs.toFixed(0)} ms, ${requests} requests begun)`

/** Seconds of the main thread's processor time. */
async function taskSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
}

/** The server's processor time while nothing is done, as a share of a core. */
async function restShare(pid: number): Promise<number> {
  const before = processorMs(pid)
  await delay(restMs)
  return (processorMs(pid) - before) / restMs
}

interface Frames {
  readonly perSecond: number
  /** The longest time between two frames. */
  readonly longestMs: number
}

const countFrames = (page: Page): Promise<Frames> =>
  page.evaluate(
    (ms) =>
      new Promise<Frames>((resolve) => {
        const startMs = performance.now()
        let frames = 0
        let longestMs = 0
        let lastMs = startMs
        const next = (): void => {
          const nowMs = performance.now()
          frames++
          longestMs = Math.max(longestMs, nowMs - lastMs)
          lastMs = nowMs
          if (nowMs - startMs < ms) requestAnimationFrame(next)
          else resolve({ perSecond: (frames / (nowMs - startMs)) * 1_000, longestMs })
        }
        requestAnimationFrame(next)
      }),
    measuredMs,
  )

/** The number of messages of the cluster so far: ids are positions in the flow record. */
const messagesSoFar = async (user: Browser): Promise<number> => {
  const lines = await user.follow('/ui/api/stream?past=1', ({ kind }) => kind === 'ready')
  return Math.max(0, ...lines.flatMap(({ event }) => event?.id ?? []))
}

export const uiPageBench: Bench = {
  name: 'ui-page',
  async *run() {
    await buildPage()
    const nodes = Math.ceil(pods / podsPerNode) + 1
    await using up = await startUp('--nodes', String(nodes), '--store', 'memory')
    const kubeconfig = await readFile(up.kubeconfig, 'utf8')
    const { origin } = await loginCode(kubeconfig)
    const user = await logIn(kubeconfig)
    for (let at = 0; at < deployments; at++)
      await user.call('POST', path, {
        metadata: { name: `d-${at}` },
        spec: {
          replicas: podsPerDeployment,
          selector: { matchLabels: { app: 'd' } },
          template: template(0),
        },
      })
    await allReady(user)
    await using stack = new AsyncDisposableStack()
    const browser = stack.adopt(await openBrowser(), (each) => each.close())
    const { page } = stack.use(await openSession(browser, kubeconfig))
    page.setDefaultTimeout(pageMsMax)
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    for (const fragment of ['overview', 'flows'])
      for (let round = 0; round < 3; round++)
        yield `first view of ${fragment} with ${pods} pods${round === 0 ? '' : ', files cached'} (target: 500 ms): ${firstViewText(await firstView(page, session, origin, up.pid, fragment))}`
    await page.goto('about:blank')
    const closed = await restShare(up.pid)
    for (const [name, fragment] of views) {
      await page.goto(`${origin}/ui/#${fragment}`, { waitUntil: 'commit' })
      await page.waitForFunction(isShown)
      const share = (await restShare(up.pid)) - closed
      yield `${name}, open while ${pods} pods are at rest (target: below 2 % of a core): the server needs ${(share * 100).toFixed(1)} % of a core (${(closed * 100).toFixed(1)} % without it)`
    }
    for (const [round, [name, fragment]] of views.entries()) {
      await page.evaluate((hash) => (location.hash = hash), fragment)
      await roll(user, round + 1)
      await page.waitForFunction(isShown)
      const messages = await messagesSoFar(user)
      const seconds = await taskSeconds(session)
      const { perSecond, longestMs } = await countFrames(page)
      const share = ((await taskSeconds(session)) - seconds) / (measuredMs / 1_000)
      const rate = ((await messagesSoFar(user)) - messages) / (measuredMs / 1_000)
      yield `${name}: ${perSecond.toFixed(0)} frames/s (target: 50), at most ${longestMs.toFixed(0)} ms between two; main thread ${(share * 100).toFixed(0)} % of a core; ${rate.toFixed(0)} messages/s`
    }
  },
}
