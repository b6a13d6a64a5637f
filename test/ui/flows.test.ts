// The Flows view of the web page in a running cluster of many nodes: where it starts, lifelines that fold, background, filters, the chain
// of a message, scale and minimap, and the keyboard.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import {
  accessibilityFindingsEverywhere,
  buildPage,
  openBrowser,
  openPage,
  openSession,
  type OpenPage,
} from './chromium.ts'

let browser: Browser
let cluster: TestCluster

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 30, https: true })
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  await cluster.client
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec: { replicas: 30, selector: { matchLabels: { app: 'web' } }, template } })
  await cluster.clock.advance('10s')
  const spec = { containers: [{ name: 'c', image: 'nginx' }] }
  for (let attempt = 0; attempt < 2; attempt++)
    await cluster.client
      .of(pod)
      .create({ metadata: { name: 'twice' }, spec }, 'default')
      .catch(() => undefined)
  await cluster.clock.advance('60s')
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

async function openFlows(query = '', options: Parameters<typeof openSession>[2] = {}): Promise<OpenPage> {
  const opened = await openSession(browser, cluster.kubeconfig, options)
  await opened.page.goto(`${cluster.url}/ui/#flows${query}`)
  await opened.page.locator('[data-event]').first().waitFor()
  // Older messages arrive after the first view.
  await opened.page.waitForLoadState('networkidle').catch(() => undefined)
  return opened
}

const lifelines = (page: Page): Promise<string[]> => page.locator('.diagram .box text').allTextContents()
const texts = (page: Page): Promise<string[]> => page.locator('[data-event] .m').allTextContents()

/** Rows in the window, and what of each is visible: its arrow, or where the arrow is. */
const rowsInView = (page: Page) =>
  page.locator('.diagram').evaluate((diagram) => {
    const view = diagram.getBoundingClientRect()
    const header = diagram.querySelector('.names')?.getBoundingClientRect().bottom ?? 0
    const isVisible = ({ left, right }: DOMRect): boolean => right > view.left && left < view.right
    return [...diagram.querySelectorAll('[data-event]')].flatMap((row) => {
      const line = row.querySelector('.l')?.getBoundingClientRect()
      if (line === undefined || line.top < header || line.bottom > view.bottom) return []
      const labels = [...row.querySelectorAll('.m')].map((label) => label.getBoundingClientRect())
      return [
        {
          hasArrow: isVisible(line),
          isBeyond: row.classList.contains('beyond'),
          hasText: labels.length > 0 && labels.every(isVisible),
        },
      ]
    })
  })

test('an idle cluster of 30 nodes: the newest messages with their lifelines are in view, each with its arrow', async () => {
  await using opened = await openFlows()
  const { page } = opened
  const names = await lifelines(page)
  ok(names.includes('API Server') && !names.includes('apiserver'), names.join())
  ok(names.length < 10, names.join())
  const { atEnd, isWide } = await page.locator('.diagram').evaluate((diagram) => ({
    atEnd: diagram.scrollTop + diagram.clientHeight >= diagram.scrollHeight - 1,
    isWide: diagram.scrollWidth > diagram.clientWidth,
  }))
  deepEqual({ atEnd, isWide }, { atEnd: true, isWide: false })
  const rows = await rowsInView(page)
  ok(rows.length > 5, String(rows.length))
  ok(
    rows.every(({ hasArrow, hasText }) => hasArrow && hasText),
    JSON.stringify(rows),
  )
  for (const text of await texts(page)) ok(!/BOOKMARK|leases|^(?:get|list|watch) /.test(text), text)
  deepEqual(await accessibilityFindingsEverywhere(page), [])
})

test('background messages are hidden, counted, and shown on request; the link says so', async () => {
  await using opened = await openFlows()
  const { page } = opened
  const background = page.getByRole('checkbox', { name: /^background \(\d+ hidden\)$/ })
  match((await page.locator('.background').getAttribute('title')) ?? '', /^Hidden: .*\d+ leases/)
  await background.check()
  await page
    .locator('[data-event] .m', { hasText: /leases|list / })
    .first()
    .waitFor()
  match(page.url(), /background=shown/)
})

test('the kubelets of all nodes are one lifeline, which a click or the keyboard unfolds', async () => {
  await using opened = await openFlows('?object=deployments/default/web')
  const { page } = opened
  const folded = page.getByRole('button', { name: 'kubelets (30): show each' })
  equal(await folded.getAttribute('aria-expanded'), 'false')
  await folded.click()
  const own = page.getByRole('button', { name: 'kubelet/node-0: fold into kubelets (30)' })
  await own.waitFor()
  equal((await lifelines(page)).filter((name) => name.startsWith('kubelet/')).length, 30)
  match(page.url(), /unfolded=kubelet/)
  await own.focus()
  await page.keyboard.press('Enter')
  await folded.waitFor()
})

test('rows whose arrows are beyond the edge name them there; a click scrolls to the arrow', async () => {
  await using opened = await openFlows('?object=deployments/default/web&unfolded=kubelet')
  const { page } = opened
  const diagram = page.locator('.diagram')
  ok(await diagram.evaluate((element) => element.scrollWidth > 2 * element.clientWidth))
  await diagram.evaluate((element) => (element.scrollLeft = element.scrollWidth))
  await page.locator('.beyond').first().waitFor()
  const rows = await rowsInView(page)
  ok(rows.length > 0 && rows.every(({ hasArrow, isBeyond, hasText }) => (hasArrow || isBeyond) && hasText))
  const names = await page.locator('.names').boundingBox()
  equal(names?.y, (await diagram.boundingBox())?.y)
  const first = page.locator('.beyond .m', { hasText: /^← test → API Server: / }).first()
  await first.click()
  await page.locator('.selected .m', { hasText: 'create deployments web' }).waitFor()
  equal(await page.locator('.selected.beyond').count(), 0)
})

test('messages are filtered by object, kind, actor and failure, and the link shows exactly these', async () => {
  await using opened = await openFlows()
  const { page } = opened
  await page.getByRole('checkbox', { name: 'failures only' }).check()
  await page.locator('[data-event] .m', { hasText: 'exists already' }).first().waitFor()
  ok((await page.locator('[data-event]:not(.failure)').count()) === 0)
  await page.getByRole('checkbox', { name: 'failures only' }).uncheck()
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('replicasets')
  await page.getByRole('combobox', { name: 'Actor' }).selectOption('Store')
  await page.getByRole('searchbox', { name: 'Objects' }).fill('default/web')
  await page.waitForFunction(() => /search=default%2Fweb/.test(location.hash))
  const shown = async (): Promise<void> => {
    await page.locator('[data-event] .m', { hasText: 'put replicaset' }).first().waitFor()
    deepEqual(await lifelines(page), ['API Server', 'Store'])
  }
  await shown()
  const link = page.url()
  match(link, /kind=replicasets&between=Store&search=/)
  await page.goto('about:blank')
  await page.goto(link)
  await shown()
  equal(await page.getByRole('combobox', { name: 'Kind' }).inputValue(), 'replicasets')
  await page.getByRole('searchbox', { name: 'Objects' }).fill('nothing-like-this')
  await page.getByText('No message matches the filters.').waitFor()
  await page.getByRole('button', { name: 'Remove the filters' }).click()
  await page.locator('[data-event]').first().waitFor()
  match(page.url(), /#flows$/)
})

test('a selected message highlights its causes and effects, and dims the rest', async () => {
  await using opened = await openFlows('?object=deployments/default/web', { viewport: { width: 1280, height: 2_400 } })
  const { page } = opened
  equal(await page.locator('.dimmed').count(), 0)
  await page
    .locator('[data-event] .m', { hasText: /^create replicasets/ })
    .first()
    .click()
  const isDimmed = (text: RegExp) =>
    page
      .locator('[data-event]', { hasText: text })
      .first()
      .evaluate((row) => row.classList.contains('dimmed'))
  await page.locator('.dimmed').first().waitFor()
  for (const text of [/create\s*deployments\s*web/, /put deployment\s*web/, /ADDED replicasets/, /create pods/])
    equal(await isDimmed(text), false, String(text))
  equal(await isDimmed(/update deployments\/status/), true)
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.locator('.diagram').focus()
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.querySelector('.dimmed') === null)
})

test('the scale changes with buttons and keys; the minimap scrolls', async () => {
  await using opened = await openFlows('?object=deployments/default/web')
  const { page } = opened
  const heightPx = () => page.locator('.diagram').evaluate(({ scrollHeight }) => scrollHeight)
  const actual = await heightPx()
  await page.getByRole('button', { name: 'Smaller' }).click()
  await page.getByRole('button', { name: '80 %' }).waitFor()
  ok((await heightPx()) < actual)
  await page.locator('.diagram').focus()
  await page.keyboard.press('+')
  await page.keyboard.press('+')
  await page.getByRole('button', { name: '125 %' }).waitFor()
  ok((await heightPx()) > actual)
  await page.keyboard.press('0')
  await page.getByRole('button', { name: '100 %' }).waitFor()
  const strip = await page.locator('.minimap').boundingBox()
  ok(strip !== null)
  await page.mouse.click(strip.x + strip.width / 2, strip.y + strip.height - 2)
  await page.waitForFunction(() => {
    const diagram = document.querySelector('.diagram')
    return diagram !== null && diagram.scrollTop + diagram.clientHeight >= diagram.scrollHeight - 2
  })
})

test('the keyboard scrolls to the selected message', async () => {
  await using opened = await openFlows('?object=deployments/default/web')
  const { page } = opened
  await page.locator('.diagram').focus()
  for (let presses = 0; presses < 30; presses++) await page.keyboard.press('ArrowDown')
  await page.waitForFunction(() => (document.querySelector('.diagram')?.scrollTop ?? 0) > 0)
  const [row, view] = await Promise.all([
    page.locator('.selected .l').boundingBox(),
    page.locator('.diagram').boundingBox(),
  ])
  ok(row !== null && view !== null && row.y > view.y && row.y < view.y + view.height)
})

test('on a narrow screen the newest messages are in view too', async () => {
  await using opened = await openFlows('', { viewport: { width: 390, height: 800 } })
  const rows = await rowsInView(opened.page)
  ok(rows.length > 3 && rows.every(({ hasArrow, isBeyond, hasText }) => (hasArrow || isBeyond) && hasText))
})

test('a report shows the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-flows-'))
  try {
    const file = join(folder, 'report.html')
    await cluster.report(file, 'flows')
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${pathToFileURL(file).href}#flows`)
    await page.locator('[data-event]').first().waitFor()
    await page.getByRole('checkbox', { name: /^background \(\d+ hidden\)$/ }).waitFor()
    await page.goto(`${pathToFileURL(file).href}#flows?object=deployments/default/web`)
    await page.getByRole('button', { name: 'kubelets (30): show each' }).waitFor()
  } finally {
    await rm(folder, { recursive: true })
  }
})
