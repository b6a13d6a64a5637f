// Lists of the web page: 50,000 rows, the order, states in color, and links to owners and nodes; ages of a running cluster.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { writeReport } from '../../src/cluster/testing/cluster-report.ts'
import type { Resource, TableRow } from '../../src/ui/page/source/source.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openPage } from './chromium.ts'

const rowsTotal = 50_000
let browser: Browser
let folder: string
let url: string

const resource = (plural: string, kind: string, group: string, isNamespaced: boolean): Resource => ({
  group,
  version: 'v1',
  plural,
  kind,
  isNamespaced,
  verbs: ['list', 'watch'],
})

const statuses = ['Running', 'CrashLoopBackOff', 'Pending', 'Completed'] as const
const number = (at: number): string => String(at).padStart(5, '0')

const podRow = (at: number): TableRow => ({
  cells: [`pod-${number(at)}`, '1/1', statuses[at % statuses.length], String(at % 1_000), '5m', `node-${at % 100}`],
  object: {
    metadata: {
      name: `pod-${number(at)}`,
      namespace: `space-${Math.floor(at / 5_000)}`,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `set-${at % 500}`, uid: `u${at}`, controller: true },
      ],
    },
    spec: { nodeName: `node-${at % 100}` },
  },
})

before(async () => {
  await buildPage()
  folder = await mkdtemp(join(tmpdir(), 'coxswain-lists-'))
  const file = join(folder, 'report.html')
  const columns = ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'Node'].map((name) => ({
    name,
    priority: name === 'Node' ? 1 : 0,
  }))
  const nodes = Array.from({ length: 100 }, (_, at) => ({
    cells: [`node-${at}`, 'Ready'],
    object: { metadata: { name: `node-${at}` } },
  }))
  await writeReport(file, {
    title: 'many pods',
    events: [],
    resources: [
      resource('pods', 'Pod', '', true),
      resource('nodes', 'Node', '', false),
      resource('replicasets', 'ReplicaSet', 'apps', true),
    ],
    tables: [
      ['pods', { columns, rows: Array.from({ length: rowsTotal }, (_, at) => podRow(at)) }],
      [
        'nodes',
        {
          columns: [
            { name: 'Name', priority: 0 },
            { name: 'Status', priority: 0 },
          ],
          rows: nodes,
        },
      ],
    ],
    history: [],
    explanations: [],
    decisions: [],
  })
  url = pathToFileURL(file).href
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await rm(folder, { recursive: true })
})

const firstNames = async (page: Page, count: number): Promise<string[]> =>
  (
    await page.locator('tr[data-name]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-name') ?? ''))
  ).slice(0, count)

test('of 50,000 rows those in the window are in the document, and all can be reached', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#objects`)
  await page.getByText(`${rowsTotal} of ${rowsTotal}`).waitFor()
  ok((await page.locator('tr[data-name]').count()) < 100)
  equal(await page.locator('.rows table').getAttribute('aria-rowcount'), String(rowsTotal + 1))
  await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight))
  const last = page.locator(`tr[data-name="pod-${number(rowsTotal - 1)}"]`)
  await last.waitFor()
  equal(await last.getAttribute('aria-rowindex'), String(rowsTotal + 1))
  ok((await page.locator('tr[data-name]').count()) < 100)
  await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, 28 * 25_000))
  await page.locator('tr[data-name="pod-25000"]').waitFor()
  await page.getByRole('searchbox').fill('pod-4999')
  await page.getByText(`10 of ${rowsTotal}`).waitFor()
})

test('a column decides the order, which is part of the link', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#objects`)
  await page.getByRole('columnheader', { name: 'Restarts' }).getByRole('button').click()
  await page.waitForFunction(
    () => document.querySelectorAll('tr[data-name]')[1]?.getAttribute('data-name') === 'pod-01000',
  )
  equal(await page.getByRole('columnheader', { name: 'Restarts' }).getAttribute('aria-sort'), 'ascending')
  await page.getByRole('columnheader', { name: 'Restarts' }).getByRole('button').click()
  await page.waitForFunction(() => document.querySelector('tr[data-name]')?.getAttribute('data-name') === 'pod-00999')
  match(page.url(), /sort=-Restarts/)
  const link = page.url()
  await page.goto('about:blank')
  await page.goto(link)
  await page.locator('tr[data-name="pod-00999"]').waitFor()
  equal(await page.getByRole('columnheader', { name: 'Restarts' }).getAttribute('aria-sort'), 'descending')
})

test('states have colors and signs, in both themes', async () => {
  for (const [colorScheme, colors] of [
    ['light', ['rgb(17, 99, 41)', 'rgb(193, 18, 31)', 'rgb(125, 78, 0)', 'rgb(89, 99, 110)']],
    ['dark', ['rgb(86, 211, 100)', 'rgb(255, 123, 114)', 'rgb(227, 179, 65)', 'rgb(145, 152, 161)']],
  ] as const) {
    await using opened = await openPage(browser, { colorScheme })
    const { page } = opened
    await page.goto(`${url}#objects`)
    await page.locator('tr[data-name="pod-00003"]').waitFor()
    const shown = await page
      .locator('tr[data-name] td:nth-child(4) .state')
      .evaluateAll((cells) => cells.slice(0, 4).map((cell) => getComputedStyle(cell).color))
    deepEqual(shown, colors)
  }
})

test('owners and nodes are links', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#objects`)
  const first = page.locator('tr[data-name="pod-00007"]')
  equal(
    await first.getByRole('link', { name: 'ReplicaSet set-7' }).getAttribute('href'),
    '#objects?resource=replicasets.apps&object=replicasets%2Fspace-0%2Fset-7',
  )
  await first.getByRole('link', { name: 'node-7', exact: true }).click()
  await page.getByRole('heading', { name: 'Node node-7' }).waitFor()
  deepEqual(await firstNames(page, 2), ['node-0', 'node-1'])
  await page.goBack()
  await first.waitFor()
})

test('a list without rows says why', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#objects?search=none-such`)
  await page.getByText('No Pods contain “none-such”.').waitFor()
  await page.evaluate(() => (location.hash = 'objects?resource=replicasets.apps&namespace=space-1'))
  await page.getByText('There are no ReplicaSets in the namespace space-1.').waitFor()
})

test('axe reports no findings in a long list', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#objects?sort=-Restarts`)
  await page.locator('tr[data-name]').first().waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
})
