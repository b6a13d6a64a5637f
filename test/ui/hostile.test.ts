// Texts of a cluster are text, never markup. The report here has markup in every field, also where the API server would reject it.
import { deepEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { noCause, type FlowEvent } from '../../src/base/observability/flow-recorder.ts'
import { writeReport } from '../../src/cluster/testing/cluster-report.ts'
import type { RecordedRun } from '../../src/ui/page/source/recorded.ts'
import type { ClusterObject, Resource } from '../../src/ui/page/source/source.ts'
import { buildPage, openBrowser, openPage } from './chromium.ts'

/** Markup with a text of its own for each place, which closes attributes and elements first. */
const hostile = (place: string): string =>
  `"'></script></title></text></pre><img src=x onerror="document.title='${place}'"><script>document.title='${place}'</script>${place}`

const name = hostile('name')
const resource = (plural: string, kind: string): Resource => ({
  ...{ group: '', version: 'v1', plural, kind, isNamespaced: true, verbs: ['list'] },
})

const pod: ClusterObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ name, namespace: hostile('namespace'), uid: 'u' },
    labels: { [hostile('label')]: hostile('label-value') },
    annotations: { [hostile('annotation')]: hostile('annotation-value') },
    ownerReferences: [{ kind: hostile('owner-kind'), name: hostile('owner'), uid: 'o' }],
    managedFields: [{ manager: hostile('manager') }],
  },
  spec: { nodeName: hostile('node'), containers: [{ name: hostile('container'), image: hostile('image') }] },
  status: {
    phase: hostile('phase'),
    conditions: [
      { type: hostile('condition'), status: 'False', reason: hostile('reason'), message: hostile('condition-message') },
    ],
  },
}

const event = {
  metadata: { name: 'e', namespace: hostile('namespace') },
  involvedObject: { name },
  ...{ type: 'Warning', reason: hostile('event-reason'), message: hostile('event-message') },
} as ClusterObject

const object = { resource: 'pods', namespace: hostile('namespace'), name }
const key = `pods/${object.namespace}/${name}`

const message = (id: number, more: Partial<FlowEvent>): FlowEvent =>
  ({
    ...{ id, atMs: 0, arrow: 'call', from: hostile('sender'), to: hostile('receiver'), what: hostile('verb'), object },
    ...{ revision: 0, cause: noCause, stages: [], outcome: hostile('outcome'), allowedBy: hostile('rule') },
    ...more,
  }) as FlowEvent

const run: RecordedRun = {
  title: hostile('title'),
  failure: hostile('failure'),
  events: [message(1, {}), message(2, { outcome: `500 ${hostile('error')}`, endMs: 1 })],
  resources: [resource('pods', 'Pod'), resource('events', 'Event')],
  tables: [
    [
      'pods',
      { columns: [{ name: hostile('column'), priority: 0 }], rows: [{ cells: [hostile('cell')], object: pod }] },
    ],
    ['events', { columns: [{ name: 'Name', priority: 0 }], rows: [{ cells: ['e'], object: event }] }],
  ],
  history: [['pods', [[key, [{ revision: 3, at: hostile('time'), author: hostile('author'), state: 'present' }]]]]],
  explanations: [[key, [hostile('why')]]],
  decisions: [
    [
      key,
      {
        ...{ at: 'now', schedulerName: hostile('scheduler'), message: hostile('decision') },
        nodes: [
          {
            node: hostile('verdict-node'),
            verdict: 'rejected',
            plugin: hostile('plugin'),
            reasons: [hostile('cause')],
          },
          { node: 'b', verdict: 'fits', scores: { [hostile('score')]: 1 }, total: 1 },
        ],
      },
    ],
  ],
}

/** What each tab of the pod shows as text. */
const tabs = {
  YAML: ['name', 'label', 'label-value', 'annotation', 'annotation-value', 'container', 'image', 'phase', 'manager'],
  Conditions: ['condition', 'reason', 'condition-message'],
  History: ['author', 'time'],
  Owners: ['owner', 'owner-kind'],
  Events: ['event-reason', 'event-message'],
  Scheduling: ['scheduler', 'decision', 'verdict-node', 'plugin', 'cause', 'score'],
} as const

/** Waits until the markup of these places is shown as text, and checks that none of it became elements or ran. */
async function shows(page: Page, places: readonly string[]): Promise<void> {
  for (const place of places)
    await page.waitForFunction((text) => document.body.textContent.includes(text), `</script>${place}`)
  const traces = await page.evaluate(() => ({
    title: document.title,
    elements: document.querySelectorAll('#page img, #page script, #page style').length,
  }))
  deepEqual(traces, { title: 'Coxswain report', elements: 0 })
}

test('markup in every field of a cluster is shown as text', async () => {
  await buildPage()
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'coxswain-hostile-')), (each) =>
    rm(each, { recursive: true }),
  )
  const file = join(folder, 'report.html')
  await writeReport(file, run)
  const browser = stack.adopt(await openBrowser(), (each) => each.close())
  const { page } = stack.use(await openPage(browser))
  await page.goto(pathToFileURL(file).href)
  await shows(page, ['title', 'failure', 'sender', 'receiver'])
  // The card of a message has its texts in one piece; in the diagram they are wrapped.
  await page.locator('[data-event="1"] .m').first().click()
  await shows(page, ['verb', 'name', 'outcome', 'rule'])
  await page.getByRole('button', { name: 'Map' }).click()
  await shows(page, ['sender', 'receiver', 'node'])
  await page.getByRole('button', { name: 'Objects' }).click()
  await shows(page, ['column', 'cell', 'namespace'])
  await page.locator('.rows tbody button').click()
  await shows(page, ['why'])
  for (const [tab, places] of Object.entries(tabs)) {
    await page.getByRole('tab', { name: tab }).click()
    await shows(page, places)
  }
})
