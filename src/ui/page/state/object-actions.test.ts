// Actions on objects: the question, its dry run, and what is sent when it is confirmed.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CreateApi } from '../../calls/workload-calls.ts'
import { consequencesOf } from '../model/actions/deletion.ts'
import type { OwnedObject } from '../model/owner-tree.ts'
import type { Resource, Source } from '../source/source.ts'
import { ObjectActions } from './object-actions.ts'
import { RowSelection, selectedMax } from './row-selection.ts'

async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve()
}

const kind = (plural: string, name: string, group = ''): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  isNamespaced: true,
  verbs: ['delete', 'patch'],
})
const deployments = kind('deployments', 'Deployment', 'apps')
const pods = kind('pods', 'Pod')
const nodes = { ...kind('nodes', 'Node'), isNamespaced: false }
const cronJobs = kind('cronjobs', 'CronJob', 'batch')
const object = (name: string, uid = '') => ({ metadata: { name, namespace: 'shop', uid } })
const owned = (resource: string, name: string): OwnedObject => ({ resource, object: object(name) })

/** What is sent; requests for these names are rejected. */
function acting(
  rejected: readonly string[] = [],
  spec = {},
  nodePods: readonly object[] = [],
  sleep = async (): Promise<void> => undefined,
  allOwned: readonly OwnedObject[] = [
    owned('replicasets', 'web-1'),
    owned('pods', 'web-1-a'),
    owned('pods', 'web-1-b'),
  ],
) {
  const sent: string[] = []
  const notices: string[] = []
  const send = async (text: string): Promise<void> => {
    sent.push(text)
    if (rejected.some((name) => text.includes(name))) throw new Error('it is protected')
  }
  const calls: CreateApi = {
    create: (target, body) => send(`POST ${target} ${JSON.stringify(body)}`),
    read: async () => ({ spec, metadata: { uid: 'workload' } }),
    delete: (target, options) => send(`DELETE ${target} ${JSON.stringify(options)}`),
    patch: (target, type, patch) => send(`PATCH ${target} ${type} ${JSON.stringify(patch)}`),
  }
  const list = async (): Promise<unknown> => nodePods
  const actions = new ObjectActions({
    source: { actions: { calls }, list } as unknown as Source,
    ownedBy: async () => allOwned,
    sleep,
    copy: async (text) => void sent.push(`copy ${text}`),
    showTerminal: ({ metadata }, container) => void sent.push(`terminal in ${metadata.name} ${container}`),
    timeMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    notify: (text) => notices.push(text),
    changed: () => undefined,
  })
  return { actions, sent, notices }
}

suite('actions', () => {
  test('a deletion is tried first, and shows what follows; it deletes exactly this object', async () => {
    const { actions, sent, notices } = acting()
    actions.ask('delete', deployments, [object('web', 'u1')])
    equal(actions.pending?.consequences, undefined)
    await settled()
    deepEqual(actions.pending?.consequences, ['Deleted with it: 1 replicasets (web-1); 2 pods (web-1-a, web-1-b).'])
    const target = '/apis/apps/v1/namespaces/shop/deployments/web'
    deepEqual(sent, [
      `DELETE ${target} {"propagationPolicy":"Background","preconditions":{"uid":"u1"},"dryRun":["All"]}`,
    ])
    await actions.confirm()
    deepEqual(sent.slice(1), [`DELETE ${target} {"propagationPolicy":"Background","preconditions":{"uid":"u1"}}`])
    deepEqual([notices, actions.pending], [['Deployment web is being deleted.'], undefined])
  })

  test('what the server would reject is known before', async () => {
    const { actions } = acting(['web'])
    actions.ask('delete', deployments, [object('web')])
    await settled()
    equal(actions.pending?.failure, 'it is protected')
  })

  test('objects that fail stay in the question', async () => {
    const { actions, notices, sent } = acting(['b {'])
    actions.ask('delete', pods, [object('a'), object('b'), object('c')])
    await settled()
    equal(sent.length, 1, 'of several the first one is tried')
    await actions.confirm()
    deepEqual(
      [actions.pending?.failure, actions.pending?.objects.map(({ metadata }) => metadata.name), actions.pending?.done],
      ['1 of 3 failed. b: it is protected', ['b'], undefined],
    )
    deepEqual(notices, ['2 pods are being deleted.'])
  })

  test('a debug container sees the processes of the first container, or of the chosen one, and has a terminal', async () => {
    const { actions, sent, notices } = acting([], { containers: [{ name: 'app' }, { name: 'side' }] })
    actions.ask('debug', pods, [object('web')])
    await settled()
    deepEqual(actions.pending?.debugTargets, ['app', 'side'])
    deepEqual(actions.pending.debug, { image: 'busybox', target: 'app' })
    actions.setDebug({ image: ' ' })
    await actions.confirm()
    equal(actions.pending?.failure, 'image: must not be empty')
    actions.setDebug({ image: ' tools:1 ', target: 'side' })
    await actions.confirm()
    const target = '/api/v1/namespaces/shop/pods/web/ephemeralcontainers'
    const container = {
      ...{ name: 'debugger-1', image: 'tools:1', stdin: true, tty: true, terminationMessagePolicy: 'File' },
      ...{ securityContext: { capabilities: { add: ['SYS_PTRACE'] } }, targetContainerName: 'side' },
    }
    const patch = JSON.stringify({ spec: { ephemeralContainers: [container] } })
    deepEqual(sent, [`PATCH ${target} application/strategic-merge-patch+json ${patch}`, 'terminal in web debugger-1'])
    deepEqual([notices, actions.pending], [['Pod web has a debug container.'], undefined])
  })

  test('a debug container that is rejected has no terminal', async () => {
    const { actions, sent } = acting(['ephemeralcontainers'])
    actions.ask('debug', pods, [object('web')])
    await settled()
    await actions.confirm()
    deepEqual([actions.pending?.failure, sent.length], ['web: it is protected', 1])
  })

  for (const [action, resource, patch, result] of [
    ['cordon', nodes, { unschedulable: true }, 'Node a is cordoned.'],
    ['uncordon', nodes, { unschedulable: null }, 'Node a is uncordoned.'],
    ['suspend', cronJobs, { suspend: true }, 'CronJob a is suspended.'],
    ['resume', cronJobs, { suspend: false }, 'CronJob a is resumed.'],
  ] as const)
    test(`${action} is a question first, then a patch`, async () => {
      const { actions, sent, notices } = acting()
      actions.ask(action, resource, [object('a')])
      equal(actions.pending?.consequences?.length, 1)
      deepEqual(sent, [])
      await actions.confirm()
      match(sent.join(), new RegExp(`/${resource.plural}/a application/merge-patch\\+json `))
      ok(sent.join().endsWith(JSON.stringify({ spec: patch })), sent.join())
      deepEqual(notices, [result])
    })

  test('a roll back offers the earlier revisions, and replaces the template by that of the chosen one', async () => {
    const owner = { ownerReferences: [{ kind: 'StatefulSet', name: 'db', uid: 'workload', controller: true }] }
    const revisions = [1, 2, 3].map((revision) => ({
      resource: 'controllerrevisions',
      object: {
        metadata: { name: `db-${revision}`, ...owner },
        revision,
        data: { spec: { template: { at: revision } } },
      },
    }))
    const { actions, sent, notices } = acting([], { template: { at: 3 } }, [], undefined, revisions)
    actions.ask('rollback', kind('statefulsets', 'StatefulSet', 'apps'), [object('db')])
    await actions.confirm()
    deepEqual(sent, [], 'the revisions are not known yet')
    await settled()
    deepEqual(
      actions.pending?.revisions.map(({ revision }) => revision),
      [2, 1],
    )
    deepEqual([actions.pending?.revision?.revision, actions.pending?.template], [2, { at: 3 }])
    const [, first] = actions.pending?.revisions ?? []
    if (first !== undefined) actions.chooseRevision(first)
    await actions.confirm()
    match(sent.join(), /statefulsets\/db application\/strategic-merge-patch\+json .*"at":1,.*"\$patch":"replace"/)
    deepEqual(notices, ['StatefulSet db is rolled back.'])
  })

  test('without an earlier revision there is no roll back', async () => {
    const { actions, sent } = acting()
    actions.ask('rollback', deployments, [object('web', 'u1')])
    await settled()
    equal(actions.pending?.failure, 'There is no earlier revision.')
    await actions.confirm()
    deepEqual(sent, [])
  })

  test('a port is checked, and the command that forwards it is copied', async () => {
    const { actions, sent, notices } = acting()
    actions.ask('forward', pods, [object('web')], '')
    for (const wrong of ['', '0', '65536', '1.5', 'x']) {
      actions.setNumber(wrong)
      await actions.confirm()
      equal(actions.pending?.failure, 'port: must be a whole number between 1 and 65535', wrong)
    }
    actions.setNumber('8080')
    await actions.confirm()
    deepEqual(sent, ['copy kubectl port-forward pods/web :8080 -n shop'])
    deepEqual(notices, ['The command is in the clipboard.'])
  })

  test('a drain says what follows, cordons the node, and evicts its pods', async () => {
    const pod = object('web', 'u1')
    const owner = { ownerReferences: [{ kind: 'DaemonSet', controller: true }] }
    const daemon = { metadata: { ...object('agent').metadata, ...owner } }
    const { actions, sent } = acting([], {}, [pod, daemon])
    actions.ask('drain', nodes, [{ metadata: { name: 'node-0' } }])
    await settled()
    deepEqual(actions.pending?.consequences, [
      'No new pods are scheduled to it.',
      'Evicted as PodDisruptionBudgets allow: web.',
      'Nothing replaces: web.',
      'Stay, because a DaemonSet owns them: agent.',
    ])
    const running = actions.confirm()
    await settled()
    deepEqual(sent, [
      'PATCH /api/v1/nodes/node-0 application/merge-patch+json {"spec":{"unschedulable":true}}',
      'POST /api/v1/namespaces/shop/pods/web/eviction {"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web","namespace":"shop"},"deleteOptions":{"preconditions":{"uid":"u1"}}}',
    ])
    await running
    equal(actions.pending, undefined)
  })

  test('a drain that is stopped leaves the node cordoned, and says so', async () => {
    const { actions, notices } = acting([], {}, [object('web', 'u1')], () => new Promise(() => undefined))
    actions.ask('drain', nodes, [{ metadata: { name: 'node-0' } }])
    void actions.confirm()
    await settled()
    deepEqual(actions.pending?.drain, { done: 0, total: 1, waiting: ['web: ends'] })
    actions.close()
    deepEqual([notices, actions.pending], [['The drain is stopped. Node node-0 stays cordoned.'], undefined])
  })

  test('an eviction that fails is shown, and the node stays in the question', async () => {
    const { actions } = acting(['eviction'], {}, [object('web', 'u1')])
    actions.ask('drain', nodes, [{ metadata: { name: 'node-0' } }])
    await actions.confirm()
    equal(actions.pending?.failure, 'node-0: web: it is protected')
  })

  test('a number of replicas is checked, then sent', async () => {
    const { actions, sent, notices } = acting()
    actions.ask('scale', deployments, [object('web')], '1')
    for (const wrong of ['', '-1', '1.5', '10001', 'x']) {
      actions.setNumber(wrong)
      await actions.confirm()
      equal(actions.pending?.failure, 'replicas: must be a whole number between 0 and 10000')
    }
    actions.setNumber('3')
    equal(actions.pending?.failure, undefined)
    await actions.confirm()
    deepEqual(sent, [
      'PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale application/merge-patch+json {"spec":{"replicas":3}}',
    ])
    deepEqual(notices, ['Deployment web is scaled.'])
  })

  test('a restart sets the annotation of kubectl; a paused workload is not restarted', async () => {
    const { actions, sent } = acting()
    actions.ask('restart', deployments, [object('web')])
    await actions.confirm()
    match(sent[0] ?? '', /strategic-merge-patch.*"kubectl.kubernetes.io\/restartedAt":"2026-01-02T03:04:05Z"/)
    const paused = acting([], { paused: true })
    paused.actions.ask('restart', deployments, [object('web')])
    await paused.actions.confirm()
    match(paused.actions.pending?.failure ?? '', /can't restart paused deployment/)
    equal(paused.sent.length, 0)
  })

  test('an action that was cancelled shows nothing more, and nothing is asked about no object', async () => {
    const { actions } = acting()
    actions.ask('delete', pods, [object('a')])
    actions.close()
    await settled()
    equal(actions.pending, undefined)
    actions.ask('delete', pods, [])
    equal(actions.pending, undefined)
    await actions.confirm()
  })
})

suite('what follows from a deletion', () => {
  for (const [what, id, objects, ownedObjects, expected] of [
    ['nothing', 'configmaps', [object('a')], [], []],
    ['a namespace', 'namespaces', [object('a')], [], [/^Everything in a namespace/]],
    [
      'a pod of a set',
      'pods',
      [
        {
          metadata: { name: 'a', ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: 'w', controller: true }] },
        },
      ],
      [],
      [/^Its controller replaces it: ReplicaSet web\.$/],
    ],
    [
      'many owned objects',
      'jobs.batch',
      [object('a')],
      Array.from({ length: 7 }, (_, at) => owned('pods', `p${at}`)),
      [/^Deleted with it: 7 pods \(p0, p1, p2, p3, p4 and 2 more\)\.$/],
    ],
  ] as const)
    test(what, () => {
      const sentences = consequencesOf(id, objects, ownedObjects)
      equal(sentences.length, expected.length)
      for (const [at, sentence] of sentences.entries()) match(sentence, expected[at] ?? /^$/)
    })
})

test('selected rows are bounded, and are selected and cleared together', () => {
  const selection = new RowSelection()
  selection.toggle('a')
  selection.toggle('b')
  selection.toggle('a')
  deepEqual([...selection.keys()], ['b'])
  const keys = Array.from({ length: selectedMax + 1 }, (_, at) => String(at))
  selection.toggleAll(keys)
  equal(selection.size, selectedMax)
  selection.toggle('more')
  equal(selection.has('more'), false)
  selection.toggleAll(keys)
  equal(selection.size, 0)
})
