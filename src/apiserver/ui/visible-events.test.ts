import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder, type FlowObject } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { allowed, noOpinion } from '../authorization/authorizer.ts'
import { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { userWithName } from '../request/request.ts'
import { visibleEvents } from './visible-events.ts'

const object = (resource: string, namespace: string, name: string): FlowObject => ({ resource, namespace, name })
const recorded: readonly (FlowObject | undefined)[] = [
  object('pods', 'mine', 'a'),
  object('pods', 'other', 'b'),
  object('pods', 'mine', ''),
  object('pods', 'mine', 'web-*'),
  object('secrets', 'mine', 's'),
  object('events', 'mine', 'e'),
  object('namespaces', '', 'mine'),
  object('namespaces', '', 'other'),
  object('unknown', 'mine', 'x'),
  undefined,
]

async function seen(...permissions: string[]): Promise<string[]> {
  const flow = new FlowRecorder(new VirtualClock())
  for (const each of recorded) {
    const id = flow.record('call', 'kubectl', 'API Server', 'x', each)
    flow.explain(id, { reason: () => 'RBAC: secret rule' })
  }
  const deps = {
    catalogue: new KindCatalogue(),
    authorize: (attributes: Parameters<Parameters<typeof visibleEvents>[2]['authorize']>[0]) => {
      const text =
        attributes.kind === 'path'
          ? `${attributes.verb} ${attributes.path}`
          : `${attributes.verb} ${attributes.group}/${attributes.resource} ${attributes.namespace}/${attributes.name}`
      return permissions.some((each) => text.startsWith(each)) ? allowed() : noOpinion()
    },
  }
  const events = await visibleEvents([...flow.events()], userWithName('jane'), deps, new AbortController().signal)
  return events.map((event) =>
    [event.object?.resource, event.object?.namespace, event.object?.name, event.allowedBy].join(' ').trim(),
  )
}

const users: [name: string, permissions: string[], events: string[]][] = [
  ['without permissions', [], []],
  ['who may get pods of a namespace', ['get /pods mine/'], ['pods mine a']],
  ['who may get one pod', ['get /pods other/b'], ['pods other b']],
  ['who may list pods of a namespace', ['list /pods mine/'], ['pods mine', 'pods mine web-*']],
  ['who may get events in one of their groups', ['get events.k8s.io/events mine/'], ['events mine e']],
  ['who may get a namespace', ['get /namespaces mine/mine'], ['namespaces  mine']],
]

for (const [name, permissions, events] of users)
  test(`a user ${name} sees the events about it`, async () => deepEqual(await seen(...permissions), events))

test('a user who may read the record sees everything', async () => {
  const all = await seen('get /coxswain/v1/flow-events')
  deepEqual([all.length, all[0]], [recorded.length, 'pods mine a RBAC: secret rule'])
})

test('a connection of simulated pods is seen by users who may get its Service and both pods', async () => {
  const flow = new FlowRecorder(new VirtualClock())
  const service = object('services', 'mine', 'web')
  flow.record('call', 'pod/mine/a', 'pod/mine/b', 'connect 10.0.0.1:80', service)
  flow.record('call', 'pod/other/c', 'pod/mine/b', 'connect 10.0.0.1:80', service)
  flow.record('call', 'pod/mine/a', 'pod/other/d', 'connect 10.0.0.1:80', service)
  flow.record('call', 'pod/mine/a', '10.9.9.9', 'connect 10.0.0.1:80', service)
  const deps = {
    catalogue: new KindCatalogue(),
    authorize: (attributes: Parameters<Parameters<typeof visibleEvents>[2]['authorize']>[0]) =>
      attributes.kind === 'resource' && attributes.namespace === 'mine' ? allowed() : noOpinion(),
  }
  const events = await visibleEvents([...flow.events()], userWithName('jane'), deps, new AbortController().signal)
  deepEqual(
    events.map(({ from, to }) => `${from} ${to}`),
    ['pod/mine/a pod/mine/b', 'pod/mine/a 10.9.9.9'],
  )
})
