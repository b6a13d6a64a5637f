// The words of actions: commands, consequences, and what a deletion and a drain name.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { actionTexts, commandOf, consequencesOfKind, type ActionKind, type ActionOn } from './action-texts.ts'
import { consequencesOf } from './deletion.ts'
import { consequencesOfDrain } from './drain-texts.ts'

const deployments = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true }
const nodes = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }
const named = (name: string, namespace?: string) => ({ metadata: { name, uid: name, ...(namespace && { namespace }) } })
const many = (count: number) => Array.from({ length: count }, (_, index) => named(`n${index}`))

const on = (kind: ActionKind, own: object = {}): ActionOn =>
  ({
    kind,
    resource: deployments,
    objects: [named('web', 'shop')],
    number: '',
    revision: undefined,
    ...own,
  }) as unknown as ActionOn

const commands: readonly [command: string, action: ActionOn][] = [
  ['kubectl delete deployments.apps/web -n shop', on('delete')],
  ['kubectl rollout restart deployments.apps/web -n shop', on('restart')],
  ['kubectl rollout undo deployments.apps/web -n shop', on('rollback')],
  ['kubectl rollout undo deployments.apps/web --to-revision=3 -n shop', on('rollback', { revision: { revision: 3 } })],
  ['kubectl scale deployments.apps/web --replicas=4 -n shop', on('scale', { number: '4' })],
  ['kubectl port-forward deployments.apps/web :80 -n shop', on('forward', { number: '80' })],
  [`kubectl patch deployments.apps/web -p '{"spec":{"suspend":true}}' -n shop`, on('suspend')],
  [`kubectl patch deployments.apps/web -p '{"spec":{"suspend":false}}' -n shop`, on('resume')],
  ['kubectl cordon a', on('cordon', { resource: nodes, objects: [named('a')] })],
  ['kubectl uncordon a b', on('uncordon', { resource: nodes, objects: [named('a'), named('b')] })],
  ['kubectl debug -it web --image=busybox -n shop', on('debug', { debug: { image: 'busybox ', target: '' } })],
  ['kubectl debug -it web --image=a:1 --target=c -n shop', on('debug', { debug: { image: 'a:1', target: 'c' } })],
  [
    'kubectl drain a --ignore-daemonsets --delete-emptydir-data --force',
    on('drain', { resource: nodes, objects: [named('a')] }),
  ],
  ['kubectl delete nodes/n0 nodes/n1', on('delete', { resource: nodes, objects: many(2) })],
  ['kubectl cordon n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 …', on('cordon', { resource: nodes, objects: many(11) })],
]
for (const [command, action] of commands) test(command, () => equal(commandOf(action), command))

test('each action has its words, and what follows from it in sentences', () => {
  for (const [kind, { verb, one, several }] of Object.entries(actionTexts)) {
    ok(verb !== '' && one !== '' && several !== '')
    for (const plural of ['deployments', 'cronjobs', 'jobs'])
      for (const text of consequencesOfKind(kind as ActionKind, { plural })) match(text, /^[A-Z].*\.$/)
  }
  deepEqual(consequencesOfKind('suspend', { plural: 'jobs' }), ['Its running pods are deleted.'])
  deepEqual(consequencesOfKind('suspend', { plural: 'cronjobs' }), ['It creates no Jobs. Jobs that run continue.'])
  deepEqual(consequencesOfKind('resume', { plural: 'jobs' }), ['Its pods are created again.'])
  deepEqual(consequencesOfKind('scale', { plural: 'deployments' }), [])
})

test('a drain names what is evicted, lost and left', () => {
  const none = { evicted: [], ofDaemonSets: [], mirrors: [], unmanaged: [], withLocalData: [] }
  deepEqual(consequencesOfDrain(none), ['No new pods are scheduled to it.', 'No pod is evicted.'])
  const pods = (...names: readonly string[]) =>
    names.map((name) => ({ metadata: { name, namespace: 'default', uid: name } }))
  const plan = {
    evicted: pods('a', 'b', 'c', 'd', 'e', 'f'),
    unmanaged: pods('a'),
    withLocalData: pods('b'),
    ofDaemonSets: pods('proxy'),
    mirrors: pods('static'),
  }
  deepEqual(consequencesOfDrain(plan as unknown as Parameters<typeof consequencesOfDrain>[0]), [
    'No new pods are scheduled to it.',
    'Evicted as PodDisruptionBudgets allow: a, b, c, d, e and 1 more.',
    'Nothing replaces: a.',
    'Data in emptyDir volumes are lost of: b.',
    'Stay, because a DaemonSet owns them: proxy.',
    'Stay, because they are static pods of the kubelet: static.',
  ])
})

const ofKinds: readonly [id: string, text: RegExp][] = [
  ['namespaces', /Everything in a namespace/],
  ['customresourcedefinitions.apiextensions.k8s.io', /All objects of the kind/],
  ['nodes', /Pods on a node are deleted/],
  ['persistentvolumeclaims', /unless its volume is retained/],
  ['services', /cannot reach its pods/],
]
for (const [id, text] of ofKinds)
  test(`what belongs to ${id} is named`, () => match(consequencesOf(id, [], [])[0] ?? '', text))

test('a deletion names what is deleted with it, and what replaces it', () => {
  const owned = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ resource: 'pods', object: named(name) }))
  const owner = (name: string) => ({ kind: 'ReplicaSet', name, uid: name, apiVersion: 'apps/v1', controller: true })
  const objects = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({
    metadata: { name, uid: name, ownerReferences: [owner(`rs-${name}`)] },
  }))
  deepEqual(consequencesOf('pods', objects as never, owned as never), [
    'Deleted with it: 6 pods (a, b, c, d, e and 1 more).',
    'Its controller replaces it: ReplicaSet rs-a, ReplicaSet rs-b, ReplicaSet rs-c, ReplicaSet rs-d, ReplicaSet rs-e and 1 others.',
  ])
  deepEqual(consequencesOf('pods', [named('a')] as never, []), [])
})
