// Reports of clusters, and the helpers that write them when a test fails.
import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { bundlePage } from '../../../scripts/bundle-page.mjs'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { RecordedRun } from '../../ui/page/source/recorded.ts'
import { reportText } from './cluster-report.ts'
import { fileFor, reportOnFailure, withCluster } from './report-on-failure.ts'
import { startCluster } from './start-cluster.ts'

let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-report-'))
  await bundlePage(new URL('../../../dist/ui', import.meta.url).pathname)
})

after(() => rm(folder, { recursive: true }))

async function readRun(file: string): Promise<RecordedRun> {
  const text = await readFile(file, 'utf8')
  const [, json = ''] = /id="recorded-run">(.*)<\/script>/.exec(text) ?? []
  return JSON.parse(json) as RecordedRun
}

test('a report contains flows, objects and explanations, but no values of Secrets', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  await cluster.client.of(secret).create({ metadata: { name: 'key' }, stringData: { password: 'hunter2' } }, 'default')
  await cluster.apply(
    'apiVersion: v1\nkind: Pod\nmetadata: { name: big, namespace: default }\nspec: { containers: [{ name: c, image: i, resources: { requests: { cpu: "64" } } }] }',
  )
  await cluster.clock.advance('1s')
  const file = join(folder, 'deep', 'report.html')
  await cluster.report(file, '</script><b>')
  const text = await readFile(file, 'utf8')
  doesNotMatch(text, /hunter2|aHVudGVyMg/)
  match(text, /Content-Security-Policy/)
  const run = await readRun(file)
  equal(run.title, '</script><b>')
  ok(run.events.some(({ what, object }) => what === 'create pods' || object?.name === 'big'))
  match(new Map(run.explanations).get('pods/default/big')?.join() ?? '', /cannot be scheduled/)
  equal(new Map(run.decisions).get('pods/default/big')?.nodes.length, 1)
  equal(new Map(run.tables).get('secrets')?.rows.length, 1)
})

test('a report has every retained revision of an object, with its author, also of one that was deleted', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  await maps.create({ metadata: { name: 'settings' }, data: { color: 'red' } }, 'default')
  await maps.patch('settings', 'default', { data: { color: 'blue' } })
  const kept = await maps.create({ metadata: { name: 'kept' }, data: { color: 'red' } }, 'default')
  await maps.delete('settings', 'default')
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"hunter2"}}' }
  const secrets = cluster.client.of(secret)
  await secrets.create({ metadata: { name: 'key', annotations }, stringData: { password: 'hunter2' } }, 'default')
  await secrets.patch('key', 'default', { stringData: { password: 'hunter3' } })
  const file = join(folder, 'history.html')
  await cluster.report(file)
  doesNotMatch(await readFile(file, 'utf8'), /hunter|aHVudGVy/)
  const run = await readRun(file)
  const ofMaps = new Map(new Map(run.history).get('configmaps'))
  const described = ofMaps.get('configmaps/default/settings')?.map((each) => {
    const { data } = (each.state === 'past' ? each.object : {}) as { data?: { color: string } }
    return `${each.author}: ${data?.color ?? each.state}`
  })
  deepEqual(described, ['test: red', 'test: blue', 'test: deleted'])
  deepEqual(
    ofMaps.get('configmaps/default/kept')?.map(({ state, revision }) => [state, revision]),
    [['present', Number(kept.metadata.resourceVersion)]],
  )
  equal(run.revisions?.newest, (await maps.list({})).revision)
  ok((run.revisions?.marks.length ?? 0) > 5)
})

test('a report without an API server contains the flows', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await cluster.kill('apiserver')
  const file = join(folder, 'down.html')
  await cluster.report(file)
  const run = await readRun(file)
  ok(run.events.length > 0)
  equal(run.tables.length, 0)
})

for (const passed of [true, false])
  test(`node:test: a test that ${passed ? 'passes' : 'fails'} writes ${passed ? 'nothing' : 'a report'}, also after the cluster is stopped`, async () => {
    const file = join(folder, `node-${passed}.html`)
    const done: (() => Promise<void>)[] = []
    const notes: string[] = []
    {
      await using cluster = await startCluster({ nodes: 0 })
      const context = {
        name: 'my test',
        fullName: 'my suite > my test',
        passed,
        error: new Error('wrapped', { cause: new Error('expected 2') }),
        after: (each: () => Promise<void>) => void done.push(each),
        diagnostic: (text: string) => void notes.push(text),
      }
      reportOnFailure(context, cluster, file)
    }
    for (const each of done) await each()
    if (passed) await rejects(readFile(file))
    else {
      const { tables, title, failure } = await readRun(file)
      deepEqual([tables.length > 0, title, failure], [true, 'my suite > my test', 'expected 2'])
    }
    equal(notes.length, passed ? 0 : 1)
  })

test('Vitest: the report is written when a test fails', async (t) => {
  await using cluster = await startCluster({ nodes: 0 })
  const file = join(folder, 'vitest.html')
  const failed: (() => Promise<void>)[] = []
  const task = { name: 'my test', suite: { name: 'my suite' }, result: { errors: [{ message: 'expected 2' }] } }
  const printed = t.mock.method(console, 'error', () => undefined)
  reportOnFailure({ task, onTestFailed: (each) => void failed.push(each) }, cluster, file)
  for (const each of failed) await each()
  const { title, failure } = await readRun(file)
  deepEqual([title, failure], ['my suite > my test', 'expected 2'])
  deepEqual(printed.mock.calls[0]?.arguments, [`the report of the cluster is in ${file}`])
})

test('withCluster writes a report and names it in the error', async () => {
  const report = join(folder, 'jest.html')
  await withCluster({ nodes: 0, report }, () => undefined)()
  await rejects(readFile(report))
  const failing = withCluster({ nodes: 0, report }, () => {
    throw new Error('expected 2')
  })
  await rejects(failing, (error: Error) => error.message.startsWith('expected 2') && error.message.includes(report))
  equal((await readRun(report)).failure, 'expected 2')
})

test('a report that cannot be written does not hide why the test has failed', async () => {
  // A file is in the place of its folder.
  const place = join(folder, 'no-folder')
  await writeFile(place, '')
  const file = join(place, 'report.html')
  const outcome = new RegExp(`report of the cluster could not be written to ${file}: (?:EEXIST|ENOTDIR)`)
  const failing = withCluster({ nodes: 0, report: file }, () => {
    throw new Error('expected 2')
  })
  await rejects(failing, (error: Error) => error.message.startsWith('expected 2') && outcome.test(error.message))

  await using cluster = await startCluster({ nodes: 0 })
  const notes: string[] = []
  const done: (() => Promise<void>)[] = []
  const context = {
    name: 'my test',
    passed: false,
    after: (each: () => Promise<void>) => void done.push(each),
    diagnostic: (text: string) => void notes.push(text),
  }
  reportOnFailure(context, cluster, file)
  for (const each of done) await each()
  match(notes.join(), outcome)
})

const nodeContext = {
  name: 'a',
  fullName: 'suite > a',
  notes: [] as string[],
  diagnostic: (text: string) => void nodeContext.notes.push(text),
}
const contexts: [framework: string, context: unknown, title: string][] = [
  ['node:test', nodeContext, 'suite > a'],
  ['Vitest', { task: { name: 'a', suite: { name: 'suite' } } }, 'suite > a'],
  ['a framework that passes a row of a table', { name: 'a' }, 'failed'],
  ['a framework that passes nothing', undefined, 'failed'],
]
for (const [framework, context, title] of contexts)
  test(`withCluster names the test of ${framework}`, async () => {
    const report = join(folder, `named.html`)
    const failing = withCluster({ nodes: 0, report }, () => {
      throw new Error('expected 2')
    })
    equal(failing.length, 0, 'Jest passes a callback to functions with a parameter')
    await rejects(failing(context))
    equal((await readRun(report)).title, title)
    const { notes } = Object(context) as { notes?: string[] }
    if (notes !== undefined) deepEqual(notes, [`the report of the cluster is in ${report}`])
  })

test('the file of a test has its name', () => {
  equal(fileFor('rolls out: 3 pods/1 node'), 'coxswain-reports/rolls-out-3-pods-1-node.html')
  equal(fileFor('…'), 'coxswain-reports/-.html')
})

test('no text can end the element that contains the run', () => {
  const run = { title: '</script>$&' } as RecordedRun
  equal(reportText('<x>{{run}}</x>', run), String.raw`<x>{"title":"\u003c/script>$&"}</x>`)
})
