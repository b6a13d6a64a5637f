// Screenshots of the main views are compared with stored ones, which `npm run screenshots:record` writes. Both have the fonts
// that Debian installs with fontconfig, because other fonts break lines elsewhere.
import { ok } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startCluster, type TestCluster } from '../../../src/cluster/index.ts'
import { until } from '../../until.ts'
import { buildPage, openBrowser, openPage, openSession } from '../chromium.ts'
import { recordCluster } from '../recorded-cluster.ts'
import { differingShare, differingShareMax, reduced } from './compare.ts'
import { decodePng, encodePng, type Image } from './png.ts'

const stored = fileURLToPath(new URL('stored', import.meta.url))
const isRecording = process.env['RECORD_SCREENSHOTS'] !== undefined

const fonts = `:root, button, select, input { font-family: 'DejaVu Sans' !important }
  pre, textarea { font-family: 'DejaVu Sans Mono' !important }`

/** The fragment of each view, and an element that it shows when it is complete. */
const views = {
  flows: ['flows?object=deployments/default/web', '[data-event]'],
  map: ['map', '[data-pod="big"]'],
  node: ['map?node=node-0', '[aria-label="Pods of node-0"] tbody tr'],
  objects: ['objects', 'tr[data-name="big"]'],
  object: ['objects?object=pods/default/big', '.why'],
  scheduling: ['objects?object=pods/default/big&tab=Scheduling', '.scheduling tbody tr'],
  workload: ['objects?resource=deployments.apps&object=deployments/default/web', '.related td'],
  relations: ['objects?resource=deployments.apps&object=deployments/default/web&tab=Relations', 'a[data-relation]'],
  history: ['objects?resource=deployments.apps&object=deployments/default/web&tab=History', '.revision'],
  comparison: ['objects?compared=1', '[data-compared]'],
} as const
/** Views of a running cluster. */
const liveViews = {
  overview: ['overview', '[data-problem="pod/big"]'],
  create: ['objects?resource=deployments.apps', '.cm-content'],
  logs: ['objects?resource=deployments.apps&object=deployments/default/web&tab=Logs', '.log:not(:empty)'],
  reach: ['objects?object=pods/default/client&tab=Reach&target=service/web', '.relations .blocked'],
} as const
type View = keyof typeof views | keyof typeof liveViews

let browser: Browser
let cluster: TestCluster
let folder: string
let url: string

before(async () => {
  await buildPage()
  folder = await mkdtemp(join(tmpdir(), 'coxswain-screenshots-'))
  const file = join(folder, 'report.html')
  await recordCluster(file, 'rolls out')
  url = pathToFileURL(file).href
  browser = await openBrowser()
  if (isRecording) await mkdir(stored, { recursive: true })
  cluster = await startCluster({
    nodes: 2,
    https: true,
    simulation: { images: { talks: { log: ['hello', 'ready'] } } },
  })
  await cluster.apply(liveObjects)
  await cluster.clock.advance('10s')
})

after(async () => {
  await browser.close()
  await cluster.stop()
  await rm(folder, { recursive: true })
})

const labels = { app: 'web' }
const container = { name: 'c', image: 'talks' }
const liveObjects = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: labels, ports: [{ port: 80 }] },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'closed', namespace: 'default' },
    spec: { podSelector: { matchLabels: labels }, policyTypes: ['Ingress'] },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client', namespace: 'default' },
    spec: { containers: [container] },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'big', namespace: 'default' },
    spec: { containers: [{ ...container, resources: { requests: { cpu: '64' } } }] },
  },
]

/** A view of the running cluster, when the navigation has all its numbers. */
async function openLive(page: Page, view: keyof typeof liveViews): Promise<void> {
  const [fragment, element] = liveViews[view]
  await page.goto(`${cluster.url}/ui/#${fragment}`)
  // The name of the cluster has its port, which differs.
  await page.addStyleTag({ content: `${fonts}\nheader h1 { visibility: hidden }` })
  if (view === 'create') await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.locator(element).first().waitFor()
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.navigation .count')].every((count) => count.textContent.trim() !== ''),
  )
}

/** At the resolution of the stored screenshots. */
const picture = async (page: Page): Promise<Image> =>
  reduced(decodePng(await page.screenshot({ animations: 'disabled', caret: 'hide' })))

/** The view as it is drawn. */
async function shot(page: Page, view: keyof typeof views, style = ''): Promise<Image> {
  const [fragment, element] = views[view]
  const isOpen = page.url().startsWith(url)
  await page.goto(`${url}#${fragment}`)
  if (!isOpen) await page.addStyleTag({ content: `${fonts}\n${style}` })
  await page.locator(element).first().waitFor()
  return picture(page)
}

const fileOf = (view: View, name: string): string => join(stored, `${view}-${name}.png`)

/** Compares a screenshot with the stored one, or stores it. */
async function check(view: View, name: string, image: Image): Promise<void> {
  const file = fileOf(view, name)
  if (isRecording) return writeFile(file, encodePng(image))
  const share = differingShare(decodePng(await readFile(file)), image)
  ok(share <= differingShareMax, `${view} differs in ${(share * 100).toFixed(1)} % of its cells from ${file}`)
}

/** Parts of a view of a running cluster are loaded one after the other, so it becomes like the stored one. */
async function checkLive(page: Page, view: keyof typeof liveViews, name: string): Promise<void> {
  await openLive(page, view)
  if (isRecording) return check(view, name, await picture(page))
  const wanted = decodePng(await readFile(fileOf(view, name)))
  await until(async () => differingShare(wanted, await picture(page)) <= differingShareMax).catch(async () =>
    check(view, name, await picture(page)),
  )
}

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 1920, 390]) {
    const options = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true }
    test(`the main views in the ${colorScheme} theme at ${width} pixels`, async () => {
      await using opened = await openPage(browser, options)
      for (const view of Object.keys(views) as (keyof typeof views)[])
        await check(view, `${colorScheme}-${width}`, await shot(opened.page, view))
    })

    test(`views of a running cluster in the ${colorScheme} theme at ${width} pixels`, async () => {
      await using opened = await openSession(browser, cluster.kubeconfig, options)
      for (const view of Object.keys(liveViews) as (keyof typeof liveViews)[])
        await checkLive(opened.page, view, `${colorScheme}-${width}`)
    })
  }

/** While screenshots are recorded, there are none to compare with. */
const changes = isRecording
  ? []
  : ([
      ['a panel that has moved', 'map', {}, 'main { margin-left: 20px }'],
      ['a hidden panel', 'objects', {}, 'header { display: none !important }'],
      ['other colors', 'object', {}, ':root { --box: #ffd0d0 !important }'],
      ['the dark theme', 'flows', { colorScheme: 'dark' }, ''],
      ['another font', 'scheduling', {}, ":root, button { font-family: 'DejaVu Serif' !important }"],
    ] as const)

for (const [change, view, options, style] of changes)
  test(`${change} is a difference`, async () => {
    await using opened = await openPage(browser, { colorScheme: 'light', bypassCSP: true, ...options })
    const share = differingShare(
      decodePng(await readFile(fileOf(view, 'light-1280'))),
      await shot(opened.page, view, style),
    )
    ok(share > differingShareMax, `${share}`)
  })
