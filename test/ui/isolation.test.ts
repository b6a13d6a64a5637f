// A user who may do everything in one namespace and nothing elsewhere walks through every view of the web page. Nothing that the page
// receives or shows has a name or a text of the other namespace. An administrator walks the same way, so that it is known what there is
// to be found.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { logIn, loginCode } from './browser.ts'
import { buildPage, openBrowser, openPage, type OpenPage } from './chromium.ts'
import { tokenOfOwner } from './reader.ts'

/** The other namespace, the names of its objects, and texts in them. */
const traces = /vaultns|sealedobj|classifiedtext/
const hiddenNamespace = 'vaultns'

let browser: Browser
let cluster: TestCluster
let hiddenAddresses: readonly string[]

const labels = { app: 'web' }
const hiddenMetadata = (name: string, more: object = {}) => ({
  name: `sealedobj-${name}`,
  namespace: hiddenNamespace,
  labels: { ...labels, note: 'classifiedtext' },
  ...more,
})
const containers = (image: string, cpu = '10m') => [
  { name: 'c', image, resources: { requests: { cpu } }, ports: [{ containerPort: 80 }] },
]
const template = (image: string) => ({ metadata: { labels }, spec: { containers: containers(image) } })
const webOf = (metadata: object) => [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { replicas: 2, selector: { matchLabels: labels }, template: template('nginx') },
  },
  { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } },
  { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { a: 'b' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: { podSelector: {} } },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { selector: { matchLabels: labels } } },
]

before(async () => {
  await buildPage()
  const images = {
    broken: { exitCode: 1, log: ['classifiedtext in a log'] },
    failing: { exitCode: 1, log: ['cannot start'] },
  }
  cluster = await startCluster({ nodes: 1, https: true, simulation: { images } })
  cluster.network.recordsConnections = true
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const alone = (metadata: object, image: string, cpu: string, more: object = {}) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: containers(image, cpu), ...more } },
  })
  const shop = (name: string) => ({ name, namespace: 'shop', labels })
  await cluster.apply([namespace('shop'), namespace(hiddenNamespace)])
  await cluster.clock.advance('2s')
  await cluster.apply([
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1_000 },
    ...webOf(shop('web')),
    ...webOf(hiddenMetadata('web')),
    alone(shop('low'), 'nginx', '5'),
    alone({ ...shop('failing'), labels: {} }, 'failing', '10m'),
    alone(hiddenMetadata('broken'), 'broken', '10m'),
    alone({ name: 'guessed', namespace: hiddenNamespace, annotations: { note: 'classifiedtext' } }, 'nginx', '10m'),
  ])
  await cluster.clock.advance('10s')
  // It needs the place of a pod of the other namespace.
  await cluster.apply(alone(hiddenMetadata('bully'), 'nginx', '6', { priorityClassName: 'high' }))
  await cluster.clock.advance('40s')
  await cluster.apply(alone({ ...shop('big'), labels: {} }, 'nginx', '5'))
  await cluster.clock.advance('5s')
  const { items } = await cluster.client.of(pod).list({ namespace: hiddenNamespace })
  const [webPod] = items.filter(({ metadata }) => metadata.name.startsWith('sealedobj-web'))
  ok(webPod)
  const from = `pod/${hiddenNamespace}/${webPod.metadata.name}`
  // Nothing listens, so the connection fails; it is recorded.
  await cluster.network.fetch('http://web.shop/', { from }).catch(() => undefined)
  const admin = await logIn(cluster.kubeconfig)
  const service = await admin.call('GET', `/api/v1/namespaces/${hiddenNamespace}/services/sealedobj-web`)
  hiddenAddresses = [webPod.status.podIP ?? '', service.body.spec.clusterIP]
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

/** What the page has received, by the path of the request. */
type Received = Map<string, string[]>

interface Watched extends OpenPage {
  readonly received: Received
}

/** A session whose page reports what it receives, and how many of its requests have no complete answer yet. */
async function openWatched(token?: string): Promise<Watched> {
  const { origin, code } = await loginCode(cluster.kubeconfig, token)
  const opened = await openPage(browser, { ignoreHTTPSErrors: true })
  const { page } = opened
  const received: Received = new Map()
  const keep = (url: string, text: string): void => {
    const { pathname } = new URL(url, origin)
    received.set(pathname, [...(received.get(pathname) ?? []), text])
  }
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => keep(socket.url().replace('wss', 'https'), String(payload))),
  )
  await page.exposeFunction('received', keep)
  await page.addInitScript(reportResponses)
  await page.goto(`${origin}/ui/login#${code}`)
  await page.locator('.user', { hasText: /\S/ }).waitFor()
  return { page, received, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

interface ReportingPage {
  openRequests: number
  readonly received: (url: string, text: string) => Promise<void>
}

/** Runs in the page. */
function reportResponses(): void {
  const self = globalThis as unknown as ReportingPage
  const send = globalThis.fetch
  self.openRequests = 0
  const isEndless = /\/stream\?|[?&](watch|follow)=/
  globalThis.fetch = async (input, init) => {
    const url = String(input)
    const isCounted = !isEndless.test(url)
    const ended = (): void => {
      // The page has handled the answer by then.
      if (isCounted) requestAnimationFrame(() => self.openRequests--)
    }
    if (isCounted) self.openRequests++
    try {
      const response = await send(input, init)
      const body = response.clone().body?.pipeThrough(new TextDecoderStream())
      const report = async (): Promise<void> => {
        const reader = body?.getReader()
        let last = ''
        for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
          // A word may be in two pieces.
          await self.received(url, last.slice(-20) + piece.value)
          last = piece.value
        }
      }
      void report()
        .catch(() => undefined)
        .finally(ended)
      return response
    } catch (error) {
      ended()
      throw error
    }
  }
}

/** Waits until everything that was requested is drawn. */
async function settle(page: Page): Promise<void> {
  const nextFrames = (): Promise<unknown> =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  // The page follows its link at an event after the change.
  await page.evaluate(nextFrames)
  await page.waitForFunction(() => (globalThis as unknown as ReportingPage).openRequests === 0)
  await page.evaluate(nextFrames)
}

/** Kinds of which both namespaces have objects, and kinds without a namespace. */
const listed = [
  ...['pods', 'deployments.apps', 'replicasets.apps', 'services', 'endpoints', 'endpointslices.discovery.k8s.io'],
  ...['configmaps', 'secrets', 'serviceaccounts', 'networkpolicies.networking.k8s.io', 'events'],
  ...['poddisruptionbudgets.policy', 'nodes', 'namespaces'],
]

const tabs = ['', 'YAML', 'History', 'Relations', 'Events', 'Scheduling', 'Logs', 'Terminal', 'Edit']

/** Every view of the page, as links. Pods that do not run have no terminal. */
async function viewsOf(page: Page, webPod: string): Promise<readonly string[]> {
  const oldest = Number(await page.getByRole('slider').getAttribute('min'))
  const newest = Number(await page.getByRole('slider').getAttribute('max'))
  const middle = Math.floor((oldest + newest) / 2)
  const objects = (resource: string, name: string, shown = tabs) =>
    shown.map((tab) => `objects?resource=${resource}&object=${resource.split('.')[0]}/shop/${name}&tab=${tab}`)
  const lists = listed.map((resource) => `objects?resource=${resource}`)
  const scoped = [
    ...['overview', 'flows', 'flows?background=shown', 'flows?only=failures', 'map', 'map?node=node-0'],
    ...lists,
  ]
  return [
    ...scoped,
    ...scoped.map((view) => `${view}${view.includes('?') ? '&' : '?'}namespace=shop`),
    ...objects('pods', webPod),
    ...['low', 'big', 'failing'].flatMap((name) => objects('pods', name, ['', 'History', 'Events', 'Scheduling'])),
    ...objects('pods', 'failing', ['Logs']),
    ...objects('deployments.apps', 'web'),
    ...['services', 'secrets', 'networkpolicies.networking.k8s.io'].flatMap((resource) =>
      objects(resource, 'web', ['', 'History', 'Relations']),
    ),
    ...['pods/shop/low', 'deployments/shop/web', 'services/shop/web'].flatMap((object) => [
      `flows?object=${object}`,
      `flows?object=${object}&background=shown`,
    ]),
    'objects?resource=nodes&object=nodes//node-0',
    'objects?resource=namespaces&object=namespaces//shop',
    ...hiddenAddresses.map((address) => `objects?object=pods/shop/${webPod}&tab=Reach&target=${address}:80`),
    ...['overview', 'map', 'objects', 'flows'].flatMap((view) =>
      [middle, newest - 1].flatMap((revision) => [
        `${view}?revision=${revision}`,
        `${view}?revision=${revision}&namespace=shop`,
      ]),
    ),
    ...['', 'shop'].flatMap((namespace) => [
      `objects?namespace=${namespace}&compared=${oldest}`,
      `objects?namespace=${namespace}&resource=deployments.apps&compared=${middle}`,
    ]),
  ]
}

/** Walks through the views, or through those that are chosen; returns those that show a trace. */
async function walk(page: Page, webPod: string, isChosen = (_view: string) => true): Promise<readonly string[]> {
  const found: string[] = []
  const look = async (view: string): Promise<void> => {
    await settle(page)
    if (traces.test(await page.content())) found.push(view)
  }
  const close = async (): Promise<void> => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await settle(page)
  const views = (await viewsOf(page, webPod)).filter(isChosen)
  for (const [at, view] of views.entries()) {
    // Both namespaces change while the page is open.
    if (at % 20 === 0) await change(at)
    await page.evaluate((hash) => (location.hash = hash), view)
    await look(view)
  }
  await page.evaluate(() => (location.hash = 'overview'))
  await settle(page)
  await page.keyboard.press('Control+k')
  await page.locator('.palette input:focus').waitFor()
  await page.keyboard.type('web')
  await page.locator('[data-choice="object/services/shop/web"]').waitFor()
  await look('search')
  await close()
  await page.keyboard.press('n')
  await page.locator('.palette input:focus').waitFor()
  await look('namespaces')
  await close()
  await page.evaluate(() => (location.hash = 'objects?object=deployments/shop/web&resource=deployments.apps'))
  await page.getByRole('article').getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('dialog')
    .getByText(/^Deleted with it: /)
    .waitFor()
  await look('deletion')
  await close()
  return found
}

async function change(at: number): Promise<void> {
  const color = { metadata: { labels: { color: `classifiedtext-${at}` } } }
  await cluster.client.of(pod).patch('guessed', hiddenNamespace, color)
  await cluster.client.of(pod).patch('big', 'shop', { metadata: { labels: { color: `c${at}` } } })
  await cluster.clock.advance('1s')
}

/** An Event names the pod for which another one was preempted, as upstream's does: it is an object of the user's namespace. */
const relatedPod = /"related":\{"kind":"Pod","namespace":"vaultns","name":"sealedobj-bully"/g

/** The paths whose answers have traces. */
const tracesIn = (received: Received): readonly string[] =>
  [...received].flatMap(([path, texts]) =>
    texts.some((text) => traces.test(text.replaceAll(relatedPod, ''))) ? [path] : [],
  )

const shownToAdmins: readonly RegExp[] = [
  /^overview$/,
  /^flows$/,
  /^map$/,
  /resource=services$/,
  /^flows\?object=services[^&]*$/,
  /tab=Reach/,
  /^map\?revision=\d+$/,
  /^objects\?namespace=&compared=/,
]

async function podOfWeb(): Promise<string> {
  const { items } = await cluster.client.of(pod).list({ namespace: 'shop' })
  return items.find(({ metadata }) => metadata.name.startsWith('web-'))?.metadata.name ?? ''
}

test('no view shows or receives anything of another namespace; an administrator finds it in all of them', async () => {
  const webPod = await podOfWeb()
  {
    await using owner = await openWatched(await tokenOfOwner(cluster, 'shop'))
    deepEqual(await walk(owner.page, webPod), [])
    deepEqual(tracesIn(owner.received), [])
    // What the user may see is there.
    for (const path of ['stream', 'events', 'problems', 'search', 'why', 'history'])
      match(owner.received.get(`/ui/api/${path}`)?.join('') ?? '', /shop/, path)
    match(owner.received.get('/api/v1/namespaces/shop/pods/failing/log')?.join('') ?? '', /cannot start/)
  }
  await using admin = await openWatched()
  const found = await walk(admin.page, webPod, (view) => shownToAdmins.some((each) => each.test(view)))
  for (const view of [...shownToAdmins, /^search$/, /^namespaces$/])
    ok(
      found.some((each) => view.test(each)),
      `${view} of ${found.join(', ')}`,
    )
  const paths = tracesIn(admin.received)
  for (const path of ['stream', 'events', 'problems', 'search', 'reach'])
    ok(paths.includes(`/ui/api/${path}`), `${path} of ${paths.join(', ')}`)
})

test('a link to an object of another namespace shows nothing of it, and not whether it exists', async () => {
  await using owner = await openWatched(await tokenOfOwner(cluster, 'shop'))
  const { page, received } = owner
  const textOf = async (name: string): Promise<readonly string[]> => {
    const texts: string[] = []
    for (const tab of [...tabs, 'Reach']) {
      const object = `pods/${hiddenNamespace}/${name}`
      await page.evaluate(
        (hash) => (location.hash = hash),
        `objects?namespace=${hiddenNamespace}&object=${object}&tab=${tab}`,
      )
      await settle(page)
      texts.push((await page.locator('main').innerText()).replaceAll(name, ''))
    }
    await page.evaluate((hash) => (location.hash = hash), `flows?object=pods/${hiddenNamespace}/${name}`)
    await settle(page)
    return [...texts, await page.locator('main').innerText()].map((text) => text.replaceAll(name, ''))
  }
  deepEqual(await textOf('guessed'), await textOf('nothing'))
  equal(/sealedobj|classifiedtext/.test([...received.values()].flat().join('\n')), false)
  const reach = async (name: string) => {
    const query = `group=&version=v1&resource=pods&namespace=shop&name=${await podOfWeb()}&target=pod/${hiddenNamespace}/${name}:80`
    const answer = await page.evaluate(async (url) => {
      const response = await fetch(url)
      return `${response.status} ${await response.text()}`
    }, `/ui/api/reach?${query}`)
    return answer.replaceAll(name, '')
  }
  equal(await reach('guessed'), await reach('nothing'))
})
