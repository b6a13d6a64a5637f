// Texts of a cluster are text, never markup. The report here has markup in every field, also where the API server would reject it.
import { deepEqual, equal } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { noCause, type FlowEvent } from '../../src/base/observability/flow-recorder.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { writeReport } from '../../src/cluster/testing/cluster-report.ts'
import type { RecordedRun } from '../../src/ui/page/source/recorded.ts'
import type { ClusterObject, Resource } from '../../src/ui/page/source/source.ts'
import { buildPage, openBrowser, openPage, openSession } from './chromium.ts'
import { replaceInEditor } from './editor.ts'

/** Markup with a text of its own for each place, which closes attributes and elements first. */
const hostile = (place: string): string =>
  `"'></script></title></text></pre><img src=x onerror="document.title='${place}'"><script>document.title='${place}'</script>${place}`

const name = hostile('name')
const resource = (plural: string, kind: string): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  isNamespaced: true,
  verbs: ['list'],
})

const pod: ClusterObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: hostile('namespace'),
    uid: 'u',
    labels: { [hostile('label')]: hostile('label-value') },
    annotations: { [hostile('annotation')]: hostile('annotation-value') },
    ownerReferences: [{ kind: hostile('owner-kind'), name: hostile('owner'), uid: 'o' }],
    managedFields: [{ manager: hostile('manager') }],
  },
  spec: {
    nodeName: hostile('node'),
    containers: [{ name: hostile('container'), image: hostile('image') }],
    volumes: [{ persistentVolumeClaim: { claimName: hostile('claim') } }],
  },
  status: {
    phase: hostile('phase'),
    containerStatuses: [{ name: hostile('container'), state: { waiting: { reason: hostile('waiting-reason') } } }],
    conditions: [
      { type: hostile('condition'), status: 'False', reason: hostile('reason'), message: hostile('condition-message') },
    ],
  },
}

const containers = [{ name: 'c', image: hostile('former-image') }]
const former: ClusterObject = { ...pod, spec: { ...pod.spec, containers } }
const owned: ClusterObject = {
  metadata: {
    name: hostile('owned'),
    namespace: hostile('namespace'),
    ownerReferences: [{ kind: 'Pod', name, uid: 'u' }],
  },
}

const event = {
  metadata: { name: 'e', namespace: hostile('namespace') },
  involvedObject: { name },
  type: 'Warning',
  lastTimestamp: hostile('event-time'),
  reportingComponent: hostile('event-source'),
  reason: hostile('event-reason'),
  message: hostile('event-message'),
} as ClusterObject

const object = { resource: 'pods', namespace: hostile('namespace'), name }
const key = `pods/${object.namespace}/${name}`

const message = (id: number, more: Partial<FlowEvent>): FlowEvent =>
  ({
    id,
    atMs: 0,
    arrow: 'call',
    from: hostile('sender'),
    to: hostile('receiver'),
    what: hostile('verb'),
    object,
    revision: 0,
    cause: noCause,
    stages: [],
    outcome: hostile('outcome'),
    allowedBy: hostile('rule'),
    ...more,
  }) as FlowEvent

const run: RecordedRun = {
  title: hostile('title'),
  failure: hostile('failure'),
  events: [
    message(1, {}),
    message(2, { outcome: `500 ${hostile('error')}`, endMs: 1 }),
    message(3, { arrow: 'persist', revision: 3, cause: { ...noCause, event: 1 as FlowEvent['id'] } }),
  ],
  resources: [resource('pods', 'Pod'), resource('events', 'Event')],
  tables: [
    [
      'pods',
      {
        columns: [{ name: hostile('column'), priority: 0 }],
        rows: [
          { cells: [hostile('cell')], object: pod },
          { cells: ['owned'], object: owned },
        ],
      },
    ],
    ['events', { columns: [{ name: 'Name', priority: 0 }], rows: [{ cells: ['e'], object: event }] }],
  ],
  history: [
    [
      'pods',
      [
        [
          key,
          [
            { revision: 2, at: '', author: 'x', state: 'past', object: former, cells: [hostile('former-cell')] },
            { revision: 3, at: hostile('time'), author: hostile('author'), state: 'present' },
          ],
        ],
      ],
    ],
  ],
  revisions: { oldest: 2, newest: 3, marks: [2, 3].map((revision) => ({ revision, atMs: revision })) },
  explanations: [[key, [hostile('why')]]],
  decisions: [
    [
      key,
      {
        at: 'now',
        schedulerName: hostile('scheduler'),
        message: hostile('decision'),
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
  Summary: [
    'node',
    'label',
    'annotation',
    'container',
    'image',
    'waiting-reason',
    'claim',
    'condition',
    'reason',
    'condition-message',
  ],
  YAML: ['name', 'label', 'label-value', 'annotation', 'annotation-value', 'container', 'image', 'phase', 'manager'],
  History: ['author', 'time', 'former-image'],
  Relations: ['owner', 'owner-kind', 'owned', 'claim'],
  Events: ['event-reason', 'event-message', 'event-time', 'event-source'],
  Scheduling: ['scheduler', 'decision', 'verdict-node', 'plugin', 'cause', 'score'],
} as const

/** Waits until the markup of these places is shown as text, and checks that none of it became elements or ran. */
async function shows(page: Page, places: readonly string[], title = 'Coxswain report'): Promise<void> {
  for (const place of places)
    await page.waitForFunction((text) => document.body.textContent.includes(text), `</script>${place}`)
  const traces = await page.evaluate(() => ({
    title: document.title,
    elements: document.querySelectorAll('#page img, #page script, #page style').length,
  }))
  deepEqual(traces, { title, elements: 0 })
}

/** The copied diagram has the markup as text too, because other programs show it. */
async function copiesText(page: Page): Promise<void> {
  const copied = async (format: string): Promise<string> => {
    await page.getByRole('button', { name: format, exact: true }).click()
    await page.getByText(`The ${format} text is in the clipboard.`).waitFor()
    return page.evaluate(() => navigator.clipboard.readText())
  }
  const svg = await copied('SVG')
  const mermaid = await copied('Mermaid')
  // The policy of the page would report the style of the parsed diagram.
  await page.goto('about:blank')
  const elements = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml')
    return [...new Set([...parsed.querySelectorAll('*')].map(({ nodeName }) => nodeName))]
  }, svg)
  deepEqual(
    elements.filter((element) => ['img', 'script', 'parsererror', 'foreignObject'].includes(element)),
    [],
  )
  equal(/[<>]\s*(?:img|script|\/)/i.test(mermaid), false, mermaid)
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
  // What a write changed, and the link to its cause.
  await page.locator('[data-event="3"] .m').first().click()
  await page.locator('[data-card] .diff', { hasText: 'former-image' }).waitFor()
  await page.locator('[data-card] .links', { hasText: 'sender' }).waitFor()
  await shows(page, ['former-image'])
  // A link is text too.
  await page.evaluate((between) => (location.hash = `flows?between=${encodeURIComponent(between)}`), hostile('link'))
  await shows(page, ['link'])
  await page.getByRole('link', { name: 'Map' }).click()
  await shows(page, ['sender', 'receiver', 'node'])
  await page.locator('.box', { hasText: 'sender' }).click()
  await page.locator('select[aria-label="Actor"] option:checked', { hasText: 'sender' }).waitFor({ state: 'attached' })
  await shows(page, ['sender'])
  await page.getByRole('link', { name: /^pods/i }).click()
  await shows(page, ['column', 'cell', 'namespace'])
  await page.locator('.rows tbody button').first().click()
  await shows(page, ['why'])
  for (const [tab, places] of Object.entries(tabs)) {
    await page.getByRole('tab', { name: tab }).click()
    await shows(page, places)
  }
  // At a past revision.
  await page.getByRole('slider').focus()
  await page.keyboard.press('Home')
  await page.getByRole('tab', { name: 'YAML' }).click()
  await shows(page, ['former-image', 'former-cell'])
  await page.evaluate(() => (location.hash = 'objects?compared=2'))
  await page.locator('[data-compared]').first().waitFor()
  await shows(page, ['former-image', 'image', 'name', 'namespace'])
  await page.evaluate(() => (location.hash = 'flows'))
  await copiesText(page)
})

test('markup in objects of a running cluster is shown as text in edits, conflicts and notices', async () => {
  await buildPage()
  await using cluster = await startCluster({ nodes: 1, https: true })
  await using stack = new AsyncDisposableStack()
  await cluster.client
    .of(configMap)
    .create(
      { metadata: { name: 'settings', annotations: { note: hostile('note') } }, data: { a: hostile('value') } },
      'default',
    )
  const browser = stack.adopt(await openBrowser(), (each) => each.close())
  const { page } = stack.use(await openSession(browser, cluster.kubeconfig))
  await page.goto(`${cluster.url}/ui/#objects?resource=configmaps&object=configmaps/default/settings&tab=Edit`)
  await replaceInEditor(page, /value/g, 'changed')
  await page.getByRole('button', { name: 'Show changes', exact: true }).click()
  await page
    .getByText(/conflict/i)
    .first()
    .waitFor()
  await shows(page, [], 'Coxswain')
  // The server names the invalid key in its message.
  await replaceInEditor(page, /^ {2}a:/m, `  ${JSON.stringify(hostile('key'))}:`)
  await page.getByRole('button', { name: 'Show changes', exact: true }).click()
  await page.locator('.tab .problem', { hasText: 'key' }).waitFor()
  await shows(page, ['key'], 'Coxswain')
})
