// The sources of the page: paths, streams of lines, and the recorded run.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { channelFrame, channels, exitText } from './exec-channels.ts'
import { lineReader, readJsonLines } from './json-lines.ts'
import { pastAtOnce } from './live.ts'
import { RecordedSource, type RecordedRun } from './recorded.ts'
import { requestError } from './requests.ts'
import { resourcePath } from './resource-path.ts'
import { resourceId, type Resource, type RowChange } from './source.ts'

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true, verbs: ['list'] }
const deployments: Resource = { ...pods, group: 'apps', plural: 'deployments', kind: 'Deployment' }
const nodes: Resource = { ...pods, plural: 'nodes', kind: 'Node', isNamespaced: false }

for (const [resource, namespace, name, path] of [
  [pods, '', '', '/api/v1/pods'],
  [pods, 'default', '', '/api/v1/namespaces/default/pods'],
  [deployments, 'default', 'web', '/apis/apps/v1/namespaces/default/deployments/web'],
  [nodes, 'default', 'a/b', '/api/v1/nodes/a%2Fb'],
] as const)
  test(`the path ${path}`, () => {
    equal(resourcePath(resource, namespace, name), path)
  })

test('a resource is identified as kubectl does', () => {
  equal(resourceId(pods), 'pods')
  equal(resourceId(deployments), 'deployments.apps')
})

suite('JSON lines', () => {
  test('complete lines are passed on together, in whatever pieces they arrive', () => {
    const batches: unknown[] = []
    const read = lineReader((values) => batches.push(values))
    for (const text of ['{"a":1}\n{"a"', ':2}\n\n', '3\n4', '\n']) read(text)
    deepEqual(batches, [[{ a: 1 }], [{ a: 2 }], [3], [4]])
  })

  test('a stream is read to its end; an endless line is an error', async () => {
    const values: unknown[] = []
    const bytes = new TextEncoder().encode('1\n2\n')
    await readJsonLines(new Blob([bytes]).stream(), (some) => values.push(...some))
    deepEqual(values, [1, 2])
    throws(() => lineReader(() => undefined)('x'.repeat((16 << 20) + 1)), /longer than/)
    await rejects(
      readJsonLines(new Blob(['no json\n']).stream(), () => undefined),
      SyntaxError,
    )
  })
})

suite('exec', () => {
  test('the first byte of a frame is its channel', () => {
    deepEqual([...channelFrame(channels.resize, 'é')], [4, 0xc3, 0xa9])
  })

  for (const [status, text] of [
    ['{"status":"Success"}', 'The command ended.'],
    [
      '{"status":"Failure","message":"command terminated","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}',
      'The command ended with exit code 3.',
    ],
    ['{"status":"Failure","message":"container not found"}', 'container not found'],
    ['{}', '{}'],
    ['no JSON', 'no JSON'],
  ] as const)
    test(`the status ${status}`, () => {
      equal(exitText(status), text)
    })
})

suite('rejected requests', () => {
  test('conflicts of an apply have their fields and owners', () => {
    const causes = [
      { reason: 'FieldManagerConflict', field: '.spec.replicas', message: 'conflict with "kubectl"' },
      { reason: 'FieldValueInvalid', field: 'spec', message: 'is invalid' },
    ]
    const error = requestError(409, 'Conflict', JSON.stringify({ message: 'Apply failed', details: { causes } }))
    equal(error.message, 'Apply failed')
    deepEqual(error.conflicts, [{ field: '.spec.replicas', message: 'conflict with "kubectl"' }])
  })

  test('a body that is no Status', () => {
    equal(requestError(502, 'Bad Gateway', '<html>').message, '502 Bad Gateway')
  })
})

suite('recorded run', () => {
  const web = { resource: 'pods', namespace: 'default', name: 'web' }
  const object = (image: string) => ({ metadata: { name: 'web', namespace: 'default' }, spec: { image } })
  const run: RecordedRun = {
    title: 'a test',
    events: [],
    resources: [pods, deployments],
    tables: [
      [
        'pods',
        {
          columns: [
            { name: 'Name', priority: 0 },
            { name: 'Age', priority: 0 },
          ],
          rows: [{ cells: ['web', '1s'], object: object('b') }],
        },
      ],
    ],
    history: [
      [
        'pods',
        [
          [
            'pods/default/web',
            [
              { revision: 3, at: '', author: 'x', state: 'past', object: object('a'), cells: ['web', '9s'] },
              { revision: 5, at: '', author: 'y', state: 'present' },
            ],
          ],
          [
            'pods/default/gone',
            [
              { revision: 4, at: '', author: 'x', state: 'past', object: object('g'), cells: ['gone', '9s'] },
              { revision: 6, at: '', author: 'z', state: 'deleted' },
            ],
          ],
        ],
      ],
      // Another group may have a resource of the same name.
      ['pods.other', [['pods/default/web', [{ revision: 4, at: '', author: 'x', state: 'present' }]]]],
    ],
    revisions: { oldest: 3, newest: 9, marks: [{ revision: 3, atMs: undefined }] },
    explanations: [['pods/default/web', ['It waits.']]],
    decisions: [['pods/default/web', { at: '', schedulerName: 's', message: '', nodes: [] }]],
  }
  const source = new RecordedSource(run)

  test('everything about an object', async () => {
    deepEqual(await source.why(pods, web), ['It waits.'])
    deepEqual(await source.why(pods, { ...web, name: 'other' }), [])
    deepEqual(await source.history(pods, web), [
      { revision: 3, at: '', author: 'x', object: object('a') },
      { revision: 5, at: '', author: 'y', object: object('b') },
    ])
    deepEqual(
      (await source.history(pods, { ...web, name: 'gone' })).map((entry) => entry.object?.spec?.['image']),
      ['g', undefined],
    )
    equal((await source.decision(web))?.schedulerName, 's')
    equal((await source.list(pods, { namespace: 'default', revision: undefined })).length, 1)
    equal((await source.list(pods, { namespace: 'elsewhere', revision: undefined })).length, 0)
    deepEqual(await source.list(deployments, { namespace: '', revision: undefined }), [])
    deepEqual(await source.resources(), run.resources)
    equal((await source.list(pods, { namespace: 'default', revision: 4 })).length, 2)
    deepEqual(await source.revisions(), run.revisions)
    equal(source.actions, undefined)
  })

  test('events are passed on at once', async () => {
    let count = -1
    await source.followEvents((events) => (count = events.length))
    equal(count, 0)
  })

  for (const [revision, rows] of [
    [undefined, ['web 1s b']],
    [2, []],
    [3, ['web 9s a']],
    [4, ['web 9s a', 'gone 9s g']],
    [5, ['web 1s b', 'gone 9s g']],
    [9, ['web 1s b']],
  ] as const)
    test(`the list at ${revision ?? 'present'}`, async () => {
      const changes: RowChange[] = []
      await source.followTable(pods, { namespace: '', revision }, (change) => changes.push(change))
      const [change] = changes
      const shown = change?.kind === 'replace' ? change.table.rows : []
      deepEqual(
        shown.map(({ cells, object: { spec } }) => `${cells.join(' ')} ${String(spec?.['image'])}`),
        rows,
      )
    })
})

test('past events are passed on together, later ones as they arrive', () => {
  const batches: unknown[] = []
  const receive = pastAtOnce((events, gap) => batches.push([events.map(({ id }) => id), gap]))
  const line = (id: number): object => ({ kind: 'event', event: { id } })
  receive([line(1)])
  receive([{ kind: 'gap', missed: 1 }, line(2)])
  deepEqual(batches, [])
  receive([line(3), { kind: 'ready', nowMs: 0 }])
  receive([line(4)])
  receive([{ kind: 'rates', lines: [] }])
  deepEqual(batches, [
    [[1, 2, 3], true],
    [[4], false],
  ])
})
