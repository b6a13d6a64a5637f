import { test } from 'node:test'
import { deepEqual, equal } from 'node:assert/strict'
import { startServer } from '../../server.harness.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const held = { metadata: { name: 'held', finalizers: ['a/b'] } }

const policies: [why: string, policies: readonly (string | undefined)[], finalizers: readonly string[]][] = [
  ['Orphan replaces Foreground', ['Foreground', 'Orphan'], ['a/b', 'orphan']],
  ['Foreground replaces Orphan', ['Orphan', 'Foreground'], ['a/b', 'foregroundDeletion']],
  ['Background removes Orphan', ['Orphan', 'Background'], ['a/b']],
  ['a deletion without a policy changes nothing', ['Foreground', undefined], ['a/b', 'foregroundDeletion']],
]
for (const [why, chosen, finalizers] of policies)
  test(`the last propagation policy counts: ${why}`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, held)
    const deleted = []
    for (const propagationPolicy of chosen)
      deleted.push((await server.call('DELETE', `${configMaps}/held`, { propagationPolicy })).body.metadata)
    deepEqual(deleted.at(-1).finalizers, finalizers)
    equal(deleted.at(-1).deletionTimestamp, deleted[0].deletionTimestamp)
  })

test('the propagation policy of a pod that is terminating gracefully does not change', async () => {
  await using server = await startServer()
  const pods = '/api/v1/namespaces/default/pods'
  const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' }
  await server.call('POST', pods, { metadata: { name: 'p' }, spec })
  const finalizersAfter = async (propagationPolicy: string) =>
    (await server.call('DELETE', `${pods}/p`, { propagationPolicy })).body.metadata.finalizers
  deepEqual(await finalizersAfter('Foreground'), ['foregroundDeletion'])
  deepEqual(await finalizersAfter('Orphan'), ['foregroundDeletion'])
})

test('the update that removes an object responds with the last resourceVersion of the object', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, held)
  const marked = (await server.call('DELETE', `${configMaps}/held`)).body.metadata
  const freed = (await server.call('PUT', `${configMaps}/held`, { metadata: { name: 'held' } })).body.metadata
  equal(freed.resourceVersion, marked.resourceVersion)
  equal((await server.call('GET', `${configMaps}/held`)).status, 404)
})

const taken: [why: string, query: string, isDeleted: boolean, message: string][] = [
  ['an object', '', false, 'configmaps "held" already exists'],
  ['an object, in a dry run', '?dryRun=All', false, 'configmaps "held" already exists'],
  ['an object that is being deleted', '', true, 'object is being deleted: configmaps "held" already exists'],
  ['the same in a dry run', '?dryRun=All', true, 'object is being deleted: configmaps "held" already exists'],
]
for (const [why, query, isDeleted, message] of taken)
  test(`a name is taken by ${why}`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, held)
    if (isDeleted) await server.call('DELETE', `${configMaps}/held`)
    const { status, body } = await server.call('POST', `${configMaps}${query}`, held)
    deepEqual([status, body.reason, body.message], [409, 'AlreadyExists', message])
  })

test('a failed precondition names the kind, what was wanted and what was found', async () => {
  await using server = await startServer()
  const { uid, resourceVersion } = (await server.call('POST', configMaps, held)).body.metadata
  const failed = async (preconditions: object) =>
    (await server.call('DELETE', `${configMaps}/held`, { preconditions })).body
  const changed = 'Operation cannot be fulfilled on ConfigMap "held": the'
  const { message, details, code } = await failed({ resourceVersion: '1' })
  deepEqual([code, details], [409, { name: 'held', kind: 'ConfigMap' }])
  equal(
    message,
    `${changed} ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
  )
  equal(
    (await failed({ uid: 'x', resourceVersion: '1' })).message,
    `${changed} UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
  )
})

test('finalizers added during deletion are reported by the checks of all kinds and by those of the kind', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, held)
  await server.call('DELETE', `${configMaps}/held`)
  const update = { metadata: { name: 'held', finalizers: ['a/b', 'c/d'] } }
  const { message, details } = (await server.call('PUT', `${configMaps}/held`, update)).body
  const detail = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}`
  equal(message, `ConfigMap "held" is invalid: metadata.finalizers: ${detail}`)
  const cause = { reason: 'FieldValueForbidden', message: detail, field: 'metadata.finalizers' }
  deepEqual(details.causes, [cause, cause])
})
