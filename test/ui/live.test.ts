// The web page of a running cluster with virtual time: log in, live flows, objects, history, edits, logs, time and steps.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../until.ts'
import type { Browser } from 'playwright-core'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import {
  accessibilityFindingsEverywhere,
  buildPage,
  openBrowser,
  openPage,
  openSession,
  type OpenPage,
} from './chromium.ts'
import { replaceInEditor } from './editor.ts'

let browser: Browser
let cluster: TestCluster

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 1, https: true })
  const spec = { containers: [{ name: 'c', image: 'nginx' }] }
  await cluster.client.of(pod).create({ metadata: { name: 'web', labels: { app: 'web' } }, spec }, 'default')
  await cluster.clock.advance('5s')
  browser = await openBrowser()
})

after(async () => {
  await browser.close()
  await cluster.stop()
})

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)

test('a login link opens the page once; the diagram grows as things happen', async () => {
  await using opened = await logIn()
  const { page } = opened
  match(page.url(), /\/ui\/(?:#overview)?$/)
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  await page.locator('[data-event]').first().waitFor()
  await cluster.client.of(pod).patch('web', 'default', { metadata: { labels: { grown: 'yes' } } })
  await page.locator('[data-event] .m', { hasText: 'patch pods web' }).first().waitFor()
})

test('pointing at a write shows what it changed', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#flows?object=pods/default/web`)
  const write = page.locator('[data-event] .m', { hasText: 'put pod web' }).first()
  const card = page.locator('[data-card]')
  // Earlier messages arrive after the first view, and move what is below them away from the pointer.
  await until(async () => {
    await page.mouse.move(0, 0)
    await write.hover()
    const heading = card.getByRole('heading', { name: 'What this write changed' })
    return heading.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    )
  })
  await card.locator('.diff .added', { hasText: 'app: web' }).first().waitFor()
})

test('the map shows the rate and the errors of each line', async () => {
  for (let call = 0; call < 5; call++) await rejects(cluster.client.of(pod).get('none', 'default'), /not found/)
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#map`)
  const line = page.locator('.line.failure[data-line="API Server>test"]')
  await line.getByText(/^1\.\d errors\/s$/).waitFor()
  match((await line.getAttribute('aria-label')) ?? '', /^API Server and test: [\d.]+\/s, 1\.\d errors\/s$/)
  await page.locator('.rates tr.failed', { hasText: 'API Server ↔ test' }).waitFor()
})

test('messages move along the lines of the map', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#map`)
  await page.locator('[data-line="API Server>Store"]').waitFor({ state: 'attached' })
  /** The colors of opaque pixels of the canvas, in a rectangle around the middle of the line between API server and store. */
  const colorsOnLine = () =>
    page.locator('.map canvas').evaluate((canvas: HTMLCanvasElement) => {
      const line = document.querySelector<SVGElement>('[data-line="API Server>Store"]')
      const [x = 0, y = 0] = (line?.dataset['at'] ?? '').split(' ').map(Number)
      const { data } = canvas.getContext('2d')?.getImageData(x, y - 12, 1, 24) ?? { data: [] }
      const pixels = Array.from({ length: data.length / 4 }, (_, at) => [...data.slice(at * 4, at * 4 + 4)])
      return [...new Set(pixels.filter(([, , , alpha]) => alpha === 255).map(String))]
    })
  const seen = new Set<string>()
  for (let count = 0; count < 200 && seen.size === 0; count++) {
    await cluster.client.of(pod).patch('web', 'default', { metadata: { labels: { count: String(count) } } })
    for (const color of await colorsOnLine()) seen.add(color)
  }
  // The color of writes in the light theme.
  deepEqual([...seen], ['154,103,0,255'])
  await page.waitForFunction(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('.map canvas')
    const image = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height)
    return image?.data.every((value) => value === 0)
  })
})

test('axe reports no findings in the views of a running cluster', async () => {
  await using opened = await logIn()
  const { page } = opened
  for (const tab of ['Edit', 'Logs', 'History']) {
    await page.evaluate((name) => (location.hash = `objects?object=pods/default/web&tab=${name}`), tab)
    await page.locator('.tab .cm-content, .tab .log, .tab .revision').first().waitFor()
    if (tab === 'Edit') await page.getByRole('button', { name: 'Show changes' }).click()
    deepEqual(await accessibilityFindingsEverywhere(page), [], tab)
  }
})

test('without a session the page asks for a new link', async () => {
  await using opened = await openPage(browser, { ignoreHTTPSErrors: true })
  await opened.page.goto(`${cluster.url}/ui/login#wrong`)
  await opened.page.getByRole('heading', { name: 'You are not logged in' }).waitFor()
})

test('lists follow changes; the history has differences and authors', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.locator('.navigation').getByRole('link', { name: /^Pods/ }).click()
  await page.locator('tr[data-name="web"]').waitFor()
  const spec = { containers: [{ name: 'c', image: 'nginx' }] }
  await cluster.client.of(pod).create({ metadata: { name: 'late' }, spec }, 'default')
  await page.locator('tr[data-name="late"]').waitFor()
  await page.getByRole('button', { name: 'web', exact: true }).click()
  await page.getByRole('tab', { name: 'History' }).click()
  await page
    .getByText(/revision \d+, .*, by test/)
    .first()
    .waitFor()
  ok((await page.locator('.revision').count()) > 2)
})

test('an edit shows what the server would change, and applies it', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?object=pods/default/web&tab=Edit`)
  await replaceInEditor(page, 'app: web', 'app: web\n    edited: by-the-page')
  await page.getByRole('button', { name: 'Show changes' }).click()
  await page.locator('.diff .added', { hasText: 'edited: by-the-page' }).waitFor()
  equal((await cluster.client.of(pod).get('web', 'default')).metadata.labels?.['edited'], undefined)
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The change is applied.').waitFor()
  equal((await cluster.client.of(pod).get('web', 'default')).metadata.labels?.['edited'], 'by-the-page')
})

test('a conflict names the fields and their owners; they are taken over only on request', async () => {
  const metadata = { name: 'settings', namespace: 'default', labels: { owner: 'test' } }
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'red' } })
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=configmaps&object=configmaps/default/settings&tab=Edit`)
  await replaceInEditor(page, 'color: red', 'color: blue')
  await page.getByRole('button', { name: 'Show changes' }).click()
  const conflict = page.getByRole('alert')
  await conflict.getByText('.data.color').waitFor()
  await conflict.getByText(/conflict with "[^"]+"/).waitFor()
  equal(await page.getByRole('button', { name: 'Apply' }).isDisabled(), true)
  await conflict.getByRole('button', { name: 'Show changes with these fields taken over' }).click()
  await page.locator('.diff .added', { hasText: 'color: blue' }).waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The change is applied.').waitFor()
  await page.getByRole('tab', { name: 'YAML' }).click()
  await page.locator('pre.yaml', { hasText: 'color: blue' }).waitFor()
  await page.getByText(/^Managed fields of 2 managers$/).waitFor()
  equal(await page.locator('details pre').isVisible(), false)
})

test('the slider shows the cluster as it was; steps advance virtual time', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects`)
  await page.locator('tr[data-name="web"]').waitFor()
  const slider = page.getByRole('slider')
  await slider.focus()
  await page.keyboard.press('Home')
  await page.getByText(/^revision \d+/).waitFor()
  await page.locator('tr[data-name="web"]').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Now' }).click()
  await page.locator('tr[data-name="web"]').waitFor()
  const beforeMs = cluster.clock.nowMs()
  const steps = page.getByRole('group', { name: 'Virtual time' })
  const shows = async (ms: number) => (await steps.getByRole('status').textContent()) === new Date(ms).toISOString()
  // Keys press the button that has the focus, wherever the layout moves it meanwhile.
  await steps.getByRole('button', { name: '+10 s' }).press('Enter')
  await until(() => shows(beforeMs + 10_000))
  equal(cluster.clock.nowMs(), beforeMs + 10_000)
  await steps.getByRole('button', { name: 'Next event' }).press('Enter')
  await until(() => cluster.clock.nowMs() > beforeMs + 10_000)
  await until(() => shows(cluster.clock.nowMs()))
  equal(await page.getByRole('alert').count(), 0)
})

test('a replay shows the cluster from its first revision on', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects`)
  await page.locator('tr[data-name="web"]').waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.locator('tr[data-name="web"]').waitFor({ state: 'detached' })
  // The pod is created again, while the replay continues or after it was stopped at its first revisions.
  await page.getByText(/^revision \d+ at /).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Replay' }).waitFor()
  match(page.url(), /revision=\d+/)
  await page.getByRole('button', { name: 'Now' }).click()
  await page.locator('tr[data-name="web"]').waitFor()
})
