// What kinds do differently when they are created, updated and deleted.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { templateGenerationAnnotation } from '../../api/apps/v1/daemon-set-rules.ts'
import { userWithName } from '../request/request.ts'
import { certificateSigningRequestStrategy } from './certificate-signing-request-strategy.ts'
import { customResourceDefinitionStrategy } from './custom-resource-definition-strategy.ts'
import { daemonSetStrategy } from './daemon-set-strategy.ts'
import { limitRangeStrategy } from './limit-range-strategy.ts'
import { namespaceStrategy } from './namespace-strategy.ts'
import { persistentVolumeStrategy } from './persistent-volume-strategy.ts'
import { podStrategy } from './pod/pod-strategy.ts'

const context = (more: object = {}) =>
  ({
    user: { ...userWithName('alice'), groups: ['system:authenticated'], ...more },
    nowMs: Date.UTC(2030, 0, 1),
  }) as never

const daemonSet = (image: string, annotations?: object) =>
  ({ metadata: { annotations }, spec: { template: { image } } }) as never

const templates: readonly (readonly [what: string, before: object | undefined, image: string, generation: string])[] = [
  ['a changed template', { [templateGenerationAnnotation]: '4' }, 'b', '5'],
  ['the same template', { [templateGenerationAnnotation]: '4' }, 'a', '4'],
  ['a template that was never counted', undefined, 'b', '2'],
]
for (const [what, before, image, generation] of templates)
  test(`a DaemonSet counts ${what}`, () => {
    const updated = daemonSetStrategy.prepareUpdate?.(daemonSet(image), daemonSet('a', before), context())
    equal(updated?.metadata.annotations?.[templateGenerationAnnotation], generation)
  })

const graces: readonly (readonly [what: string, pod: object, option: number | undefined, seconds: number])[] = [
  ['a pod', { spec: { nodeName: 'n' } }, undefined, 30],
  ['a pod with a shorter grace period in the options', { spec: { nodeName: 'n' } }, 5, 5],
  ['a pod with a negative grace period in the options', { spec: { nodeName: 'n' } }, -7, 1],
  ['a pod with a negative grace period', { spec: { nodeName: 'n', terminationGracePeriodSeconds: -7 } }, undefined, 1],
  ['a pod without a node', { spec: {} }, -7, 0],
  ['a finished pod', { spec: { nodeName: 'n' }, status: { phase: 'Failed' } }, -7, 0],
]
for (const [what, pod, option, seconds] of graces)
  test(`the deletion of ${what} waits ${seconds} s`, () => {
    const { spec, ...rest } = pod as { readonly spec: object }
    const object = { metadata: {}, status: {}, ...rest, spec: { terminationGracePeriodSeconds: 30, ...spec } }
    const options = option === undefined ? {} : { gracePeriodSeconds: option }
    equal(podStrategy.graceSeconds?.(object as never, options), seconds)
  })

test('a signing request has the identity of its sender, not the one that was sent', () => {
  const sent = { metadata: {}, spec: { request: 'r', username: 'eve', uid: '1', extra: { a: ['b'] } } } as never
  const create = (more: object) => certificateSigningRequestStrategy.prepareCreate?.(sent, context(more))?.spec
  deepEqual(create({}), { request: 'r', username: 'alice', groups: ['system:authenticated'] })
  deepEqual(create({ uid: '7', extra: { c: ['d'] } }), {
    request: 'r',
    username: 'alice',
    groups: ['system:authenticated'],
    uid: '7',
    extra: { c: ['d'] },
  })
})

test('an approval gets times; one that was there before keeps its transition', () => {
  const approve = certificateSigningRequestStrategy.subresourceUpdates?.['approval']
  const condition = (more: object = {}) => ({ type: 'Approved', status: 'True', ...more })
  const withConditions = (...conditions: object[]) => ({ metadata: {}, spec: {}, status: { conditions } }) as never
  const now = '2030-01-01T00:00:00Z'
  const before = '2029-01-01T00:00:00Z'
  const timesOf = (sent: object, old: object[]) => {
    const [first] = approve?.(withConditions(sent), withConditions(...old), context())?.status.conditions ?? []
    return [first?.lastUpdateTime, first?.lastTransitionTime]
  }
  deepEqual(timesOf(condition(), []), [now, now])
  deepEqual(timesOf(condition(), [condition({ lastTransitionTime: before })]), [now, before])
  deepEqual(timesOf(condition(), [condition({ status: 'False', lastTransitionTime: before })]), [now, now])
  deepEqual(timesOf(condition({ lastUpdateTime: before, lastTransitionTime: before }), []), [before, before])
  const none = { metadata: {}, spec: {}, status: {} } as never
  deepEqual(approve?.(none, none, context())?.status.conditions, [])
})

test('a definition lists the versions in which objects were stored, and is deleted after its objects', () => {
  const spec = { versions: [{ name: 'v2', storage: true }] }
  const update = (status: object) =>
    customResourceDefinitionStrategy.prepareUpdate?.({ metadata: {}, spec, status } as never, {} as never, context())
      ?.status.storedVersions
  deepEqual(update({ storedVersions: ['v1'] }), ['v1', 'v2'])
  deepEqual(update({}), ['v2'])
  const deletionTimestamp = '2030-01-01T00:00:00Z'
  const marked = customResourceDefinitionStrategy.markDeleted?.({
    metadata: { deletionTimestamp, finalizers: ['other'] },
    spec,
    status: {},
  } as never)
  deepEqual(marked?.metadata.finalizers, ['other', 'customresourcecleanup.apiextensions.k8s.io'])
  equal(marked?.status.conditions?.[0]?.lastTransitionTime, deletionTimestamp)
  equal(customResourceDefinitionStrategy.isBlocked?.({ metadata: {} } as never), true)
  equal(customResourceDefinitionStrategy.isBlocked?.({ metadata: { deletionTimestamp } } as never), false)
})

test('a namespace has the finalizer of its content until it is finalized', () => {
  const create = (spec: object) => namespaceStrategy.prepareCreate?.({ metadata: {}, spec } as never, context())?.spec
  deepEqual(create({}), { finalizers: ['kubernetes'] })
  deepEqual(create({ finalizers: ['kubernetes', 'mine'] }), { finalizers: ['kubernetes', 'mine'] })
  const finalize = namespaceStrategy.subresourceUpdates?.['finalize']
  deepEqual(finalize?.({ spec: {} } as never, { spec: { finalizers: ['kubernetes'] } } as never, context())?.spec, {
    finalizers: [],
  })
  equal(namespaceStrategy.isBlocked?.({ spec: {} } as never), false)
  equal(namespaceStrategy.isBlocked?.({ spec: { finalizers: ['kubernetes'] } } as never), true)
})

test('a LimitRange without a name is named after its uid', () => {
  const nameOf = (metadata: object) =>
    limitRangeStrategy.prepareCreate?.({ metadata } as never, context())?.metadata.name
  equal(nameOf({ uid: 'u1' }), 'u1')
  equal(nameOf({ name: 'a', uid: 'u1' }), 'a')
})

const earlier = '2029-01-01T00:00:00Z'
const now = '2030-01-01T00:00:00Z'
const other = '2028-01-01T00:00:00Z'
const phases: readonly (readonly [what: string, sent: object, time: string | undefined, old?: object])[] = [
  ['another phase', { phase: 'Bound', lastPhaseTransitionTime: earlier }, now],
  ['another phase without a time', { phase: 'Bound' }, now],
  ['another phase with a time', { phase: 'Bound', lastPhaseTransitionTime: other }, other],
  ['the same phase', { phase: 'Available', message: 'm', lastPhaseTransitionTime: earlier }, earlier],
  ['the same phase without a time', { phase: 'Available' }, earlier],
  ['the same phase with a time', { phase: 'Available', lastPhaseTransitionTime: other }, other],
  ['the same phase of a volume without a time', { phase: 'Available' }, undefined, { phase: 'Available' }],
]
for (const [what, sent, time, old = { phase: 'Available', lastPhaseTransitionTime: earlier }] of phases)
  test(`the time of a PersistentVolume's phase: ${what}`, () => {
    const volume = (status: object) => ({ metadata: {}, spec: {}, status }) as never
    const updated = persistentVolumeStrategy.prepareStatusUpdate?.(volume(sent), volume(old), context())
    equal(updated?.status.lastPhaseTransitionTime, time)
  })
