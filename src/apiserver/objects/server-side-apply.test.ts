// Server-side apply and managedFields through the whole server: ownership, conflicts, subresources, versions, limits.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../schema/json/json-value.ts'
import { startServer, type HarnessResponse, type Harness } from '../server.harness.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

const configMap = (data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
})

const deployment = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', ...metadata },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
    ...spec,
  },
})

const apply = (server: Harness, path: string, body: unknown, manager = 'alice', more = '') =>
  server.call('PATCH', `${path}?fieldManager=${manager}${more}`, body, {
    'content-type': 'application/apply-patch+yaml',
  })

const patch = (server: Harness, path: string, type: 'json' | 'merge' | 'strategic-merge', body: unknown) =>
  server.call('PATCH', path, body, { 'content-type': `application/${type}-patch+json` })

/** `alice Apply {…}`, one for each entry. */
const owners = ({ body }: HarnessResponse): string[] =>
  (body.metadata.managedFields ?? []).map(
    ({ manager, operation, subresource = '', fieldsV1 }: JsonObject) =>
      `${String(manager)} ${String(operation)}${subresource === '' ? '' : ` ${String(subresource)}`} ${JSON.stringify(fieldsV1)}`,
  )

test('an apply creates the object, and changes nothing when it is repeated', async () => {
  await using server = await startServer()
  const made = await apply(server, `${configMaps}/a`, configMap({ x: '1' }))
  equal(made.status, 201)
  deepEqual(owners(made), ['alice Apply {"f:data":{"f:x":{}}}'])
  await server.clock.advance(5_000)
  const again = await apply(server, `${configMaps}/a`, configMap({ x: '1' }))
  equal(again.status, 200)
  deepEqual(again.body, made.body)
})

test('a body in YAML is applied too', async () => {
  await using server = await startServer()
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: "1"\n'
  equal((await apply(server, `${configMaps}/a`, yaml)).status, 201)
  const flow = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "2"}}'
  equal((await apply(server, `${configMaps}/a`, flow)).body.data.x, '2')
})

test('fields that two managers apply with the same value are shared; a manager that drops one leaves it to the other', async () => {
  await using server = await startServer()
  await apply(server, `${configMaps}/a`, configMap({ x: '1', y: '1' }))
  const shared = await apply(server, `${configMaps}/a`, configMap({ x: '1' }), 'bob')
  deepEqual(owners(shared), ['bob Apply {"f:data":{"f:x":{}}}', 'alice Apply {"f:data":{"f:x":{},"f:y":{}}}'])
  const left = await apply(server, `${configMaps}/a`, configMap({ z: '1' }))
  deepEqual(left.body.data, { x: '1', z: '1' })
  const gone = await apply(
    server,
    `${configMaps}/a`,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    'bob',
  )
  deepEqual(gone.body.data, { z: '1' })
  deepEqual(owners(gone), ['alice Apply {"f:data":{"f:z":{}}}'])
})

test('a conflict lists all managers and fields; force takes them over', async () => {
  await using server = await startServer()
  await apply(server, `${configMaps}/a`, configMap({ x: '1', y: '1' }))
  await server.call(
    'PATCH',
    `${configMaps}/a?fieldManager=bob`,
    { data: { z: '1' } },
    { 'content-type': 'application/merge-patch+json' },
  )
  const one = await apply(server, `${configMaps}/a`, configMap({ z: '2' }), 'carol')
  deepEqual(
    [one.status, one.body.reason, one.body.message],
    [409, 'Conflict', 'Apply failed with 1 conflict: conflict with "bob" using v1: .data.z'],
  )
  const all = await apply(server, `${configMaps}/a`, configMap({ x: '2', y: '2', z: '2' }), 'carol')
  equal(
    all.body.message,
    'Apply failed with 3 conflicts: conflicts with "alice":\n- .data.x\n- .data.y\nconflicts with "bob" using v1:\n- .data.z',
  )
  deepEqual(all.body.details.causes[2], {
    reason: 'FieldManagerConflict',
    message: 'conflict with "bob" using v1',
    field: '.data.z',
  })
  const forced = await apply(server, `${configMaps}/a`, configMap({ x: '2', z: '2' }), 'carol', '&force=true')
  deepEqual(forced.body.data, { x: '2', y: '1', z: '2' })
  deepEqual(owners(forced), ['alice Apply {"f:data":{"f:y":{}}}', 'carol Apply {"f:data":{"f:x":{},"f:z":{}}}'])
})

test('fields of an object without managers belong to before-first-apply', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', configMaps, configMap({ x: '1' }))
  const reset = await server.call('PUT', `${configMaps}/a`, {
    ...body,
    metadata: { ...body.metadata, managedFields: [{}] },
  })
  equal(reset.body.metadata.managedFields, undefined)
  const changed = await patch(server, `${configMaps}/a`, 'merge', { data: { w: '1' } })
  deepEqual(owners(changed), [], 'an update does not begin to manage')
  const first = await apply(server, `${configMaps}/a`, configMap({ y: '1' }))
  deepEqual(owners(first), [
    'alice Apply {"f:data":{"f:y":{}}}',
    'before-first-apply Update {"f:data":{".":{},"f:w":{},"f:x":{}}}',
  ])
})

test('a client-side apply by kubectl does not conflict with its server-side apply, which updates the annotation', async () => {
  await using server = await startServer()
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const last = { ...configMap({ x: '1', y: '1' }), metadata: { name: 'a', namespace: 'default' } }
  const sent = configMap({ x: '1', y: '1' }, { annotations: { [annotation]: JSON.stringify(last) } })
  await server.call('POST', `${configMaps}?fieldManager=kubectl-client-side-apply`, sent)
  const other = await apply(server, `${configMaps}/a`, configMap({ x: '2' }), 'alice')
  equal(other.status, 409)
  const { status, body } = await apply(server, `${configMaps}/a`, configMap({ x: '<2>' }), 'kubectl')
  equal(status, 200)
  equal(
    body.metadata.annotations[annotation],
    '{"apiVersion":"v1","data":{"x":"\\u003c2\\u003e"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
  )
  await server.call(
    'PATCH',
    `${configMaps}/a?fieldManager=bob`,
    { data: { y: '3' } },
    { 'content-type': 'application/merge-patch+json' },
  )
  const changedSince = await apply(server, `${configMaps}/a`, configMap({ x: '<2>', y: '4' }), 'kubectl')
  match(changedSince.body.message, /1 conflict: conflict with "bob" using v1: \.data\.y$/)
})

test('each subresource has its own entries', async () => {
  await using server = await startServer()
  await apply(server, `${deployments}/a`, deployment({ replicas: 1 }))
  const status = await server.call(
    'PATCH',
    `${deployments}/a/status?fieldManager=controller`,
    { status: { replicas: 1 } },
    { 'content-type': 'application/merge-patch+json' },
  )
  match(owners(status)[1] ?? '', /^controller Update status \{"f:status":\{"f:replicas":\{\}\}\}$/)
  const scaled = await server.call(
    'PATCH',
    `${deployments}/a/scale?fieldManager=hpa`,
    { spec: { replicas: 3 } },
    { 'content-type': 'application/merge-patch+json' },
  )
  equal(scaled.body.spec.replicas, 3)
  const refused = await apply(server, `${deployments}/a`, deployment({ replicas: 1 }))
  equal(
    refused.body.message,
    'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas',
  )
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 5 } }
  const scaleRefused = await apply(server, `${deployments}/a/scale`, scale, 'bob')
  equal(
    scaleRefused.body.message,
    'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using autoscaling/v1: .spec.replicas',
  )
  equal((await apply(server, `${deployments}/a/scale`, scale, 'bob', '&force=true')).body.spec.replicas, 5)
  const object = await server.call('GET', `${deployments}/a`)
  ok(owners(object).includes('bob Apply scale {"f:spec":{"f:replicas":{}}}'))
  const applied = await apply(
    server,
    `${deployments}/a/status`,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { replicas: 9 },
      status: { observedGeneration: 2 },
    },
    'carol',
  )
  deepEqual([applied.body.spec.replicas, applied.body.status.observedGeneration], [5, 2])
  ok(owners(applied).includes('carol Apply status {"f:status":{"f:observedGeneration":{}}}'))
  equal((await apply(server, `${deployments}/none/status`, deployment(), 'carol')).status, 404)
})

test('a status update of a Deployment may change annotations, but not labels', async () => {
  await using server = await startServer()
  await server.call('POST', deployments, deployment())
  const { body } = await patch(server, `${deployments}/a/status`, 'merge', {
    metadata: { annotations: { n: '1' }, labels: { l: '1' } },
  })
  deepEqual([body.metadata.annotations, body.metadata.labels], [{ n: '1' }, undefined])
})

test('a write without a field manager is named after the User-Agent', async () => {
  await using server = await startServer()
  const made = await server.call('POST', configMaps, configMap({ x: '1' }), { 'user-agent': 'kubectl/v1.36.4 (linux)' })
  deepEqual(owners(made), ['kubectl Update {"f:data":{".":{},"f:x":{}}}'])
})

test('managedFields are retained when a client omits them, and may be changed', async () => {
  await using server = await startServer()
  await apply(server, `${configMaps}/a`, configMap({ x: '1' }))
  const put = await server.call('PUT', `${configMaps}/a?fieldManager=bob`, configMap({ x: '1', y: '1' }))
  const entries = ['alice Apply {"f:data":{"f:x":{}}}', 'bob Update {"f:data":{"f:y":{}}}']
  deepEqual(owners(put), entries)
  const garbage = {
    metadata: { managedFields: [{ operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { x: 1 } }] },
  }
  deepEqual(owners(await patch(server, `${configMaps}/a`, 'merge', garbage)), entries)
  const [first] = put.body.metadata.managedFields
  const corrected = await patch(server, `${configMaps}/a`, 'json', [
    { op: 'replace', path: '/metadata/managedFields', value: [{ ...first, manager: 'eve' }] },
  ])
  deepEqual(owners(corrected), ['eve Apply {"f:data":{"f:x":{}}}'])
})

test('when there are more than ten updating managers, the oldest are merged', async () => {
  await using server = await startServer()
  await server.call('POST', `${configMaps}?fieldManager=m0`, configMap({ k0: '1' }))
  for (let index = 1; index < 12; index++) {
    await server.clock.advance(1_000)
    await server.call(
      'PATCH',
      `${configMaps}/a?fieldManager=m${index}`,
      { data: { [`k${index}`]: '1' } },
      { 'content-type': 'application/merge-patch+json' },
    )
  }
  const entries = owners(await server.call('GET', `${configMaps}/a`))
  equal(entries.length, 10)
  equal(entries[0], 'ancient-changes Update {"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{}}}')
  equal(entries[9], 'm11 Update {"f:data":{"f:k11":{}}}')
})

test('an Event is managed in both of its versions', async () => {
  await using server = await startServer()
  const event = {
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'Tested',
    type: 'Normal',
    source: { component: 'test' },
  }
  await server.call('POST', '/api/v1/namespaces/default/events?fieldManager=old', event)
  const { status, body } = await server.call(
    'PATCH',
    '/apis/events.k8s.io/v1/namespaces/default/events/e?fieldManager=new',
    { metadata: { labels: { a: 'b' } } },
    { 'content-type': 'application/merge-patch+json' },
  )
  equal(status, 200)
  deepEqual(
    body.metadata.managedFields.map(
      ({ manager, apiVersion }: JsonObject) => `${String(manager)} ${String(apiVersion)}`,
    ),
    ['new events.k8s.io/v1', 'old v1'],
  )
})

type Refusal = readonly [
  why: string,
  path: string,
  body: JsonValue | undefined,
  query: string,
  status: number,
  message: RegExp,
]
const base = configMap({ x: '1' }) as unknown as JsonObject
const refusals: readonly Refusal[] = [
  ['another kind', 'a', { ...base, kind: 'Secret' }, '', 400, /^invalid object type: \/v1, Kind=Secret$/],
  [
    'another version',
    'a',
    { ...base, apiVersion: 'apps/v1' },
    '',
    400,
    /^invalid object type: apps\/v1, Kind=ConfigMap$/,
  ],
  [
    'managedFields',
    'a',
    configMap({}, { managedFields: [] }) as unknown as JsonObject,
    '',
    400,
    /^metadata.managedFields must be nil$/,
  ],
  ['another name', 'b', base, '', 400, /^the name of the object \(a\) does not match the name on the URL \(b\)$/],
  [
    'no name',
    'b',
    { apiVersion: 'v1', kind: 'ConfigMap' },
    '',
    400,
    /\(b based on URL\) was undeterminable: name must be provided$/,
  ],
  [
    'another namespace',
    'a',
    configMap({}, { namespace: 'other' }) as unknown as JsonObject,
    '',
    400,
    /^the namespace of the provided object does not match the namespace sent on the request$/,
  ],
  [
    'a uid of a missing object',
    'a',
    configMap({}, { uid: 'u' }) as unknown as JsonObject,
    '',
    409,
    /uid mismatch: the provided object specified uid u, and no existing object was found$/,
  ],
  [
    'a resourceVersion of a missing object that is not a number',
    'a',
    configMap({}, { resourceVersion: 'abc' }) as unknown as JsonObject,
    '',
    500,
    /^strconv\.ParseUint: parsing "abc": invalid syntax$/,
  ],
  [
    'an unknown field',
    'a',
    { ...base, dat: {} },
    '',
    500,
    /^failed to create typed patch object \(\/a; \/v1, Kind=ConfigMap\): \.dat: field not declared in schema$/,
  ],
  ['a list', 'a', [], '', 400, /^error decoding YAML/],
  ['no body', 'a', undefined, '', 400, /^invalid object type: \/, Kind=$/],
  [
    'a long field manager',
    'a',
    base,
    `&fieldManager=${'x'.repeat(129)}`,
    422,
    /^PatchOptions\.meta\.k8s\.io "" is invalid: fieldManager: Too long/,
  ],
  ['no manager', 'a', base, '&fieldManager=', 422, /fieldManager: Required value: is required for apply patch$/],
  ['an invalid dryRun', 'a', base, '&fieldManager=x&dryRun=Some', 422, /dryRun: Unsupported value/],
]
for (const [why, name, body, query, status, message] of refusals)
  test(`an apply is rejected: ${why}`, async () => {
    await using server = await startServer()
    const answer = await server.call(
      'PATCH',
      `${configMaps}/${name}?${query === '' ? 'fieldManager=x' : query.slice(1)}`,
      body,
      {
        'content-type': 'application/apply-patch+yaml',
      },
    )
    match(answer.body.message, message)
    equal(answer.status, status)
  })

test('the resourceVersion of a missing object is ignored', async () => {
  await using server = await startServer()
  const { status, body } = await apply(server, `${configMaps}/a`, configMap({ x: '1' }, { resourceVersion: '7' }))
  deepEqual([status, body.data], [201, { x: '1' }])
})

test('an apply with an old version is rejected, and force is only for applies', async () => {
  await using server = await startServer()
  await apply(server, `${configMaps}/a`, configMap({ x: '1' }))
  const old = await apply(server, `${configMaps}/a`, configMap({ x: '2' }, { resourceVersion: '1' }))
  deepEqual([old.status, old.body.reason], [409, 'Conflict'])
  const { status, body } = await patch(server, `${configMaps}/a?force=true`, 'merge', { data: {} })
  deepEqual(
    [status, body.message],
    [422, 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'],
  )
})

test('a JSON patch with too many operations is rejected as too large', async () => {
  await using server = await startServer()
  await apply(server, `${configMaps}/a`, configMap({ x: '1' }))
  const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/x', value: '1' }))
  equal((await patch(server, `${configMaps}/a`, 'json', operations)).status, 413)
})
