// Requests that are rejected, with upstream's messages.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { allowed, noOpinion } from './authorization/authorizer.ts'
import { startServer } from './server.harness.ts'
import { openPolicies } from './open-policies.ts'
import { configMap, configMaps, pods } from './server-objects.harness.ts'

const refused: [
  why: string,
  method: string,
  target: string,
  body: unknown,
  status: number,
  message: RegExp,
  headers?: Record<string, string>,
][] = [
  ['a name that is in use', 'POST', configMaps, configMap('taken'), 409, /^configmaps "taken" already exists$/],
  [
    'no name',
    'POST',
    configMaps,
    { data: {} },
    422,
    /^ConfigMap "" is invalid: metadata\.name: Required value: name or generateName is required$/,
  ],
  [
    'a missing namespace',
    'POST',
    '/api/v1/namespaces/none/configmaps',
    configMap('a'),
    404,
    /^namespaces "none" not found$/,
  ],
  [
    'another namespace in the body',
    'POST',
    configMaps,
    configMap('a', {}, { namespace: 'other' }),
    400,
    /does not match the namespace sent on the request/,
  ],
  [
    'another name on update',
    'PUT',
    `${configMaps}/taken`,
    configMap('b'),
    400,
    /^the name of the object \(b\) does not match the name on the URL \(taken\)$/,
  ],
  [
    'another kind in the body',
    'POST',
    configMaps,
    { ...configMap('a'), kind: 'Pod' },
    400,
    /the kind in the data \(Pod\) does not match the expected kind \(ConfigMap\)/,
  ],
  [
    'another version in the body',
    'POST',
    configMaps,
    { ...configMap('a'), apiVersion: 'v2' },
    400,
    /the API version in the data \(v2\)/,
  ],
  [
    'a wrong type',
    'POST',
    configMaps,
    configMap('a', { x: 1 }),
    400,
    /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  [
    'an unknown field when strict',
    'POST',
    `${configMaps}?fieldValidation=Strict`,
    { ...configMap('a'), dat: 1 },
    400,
    /strict decoding error: unknown field "dat"$/,
  ],
  [
    'an invalid field validation level',
    'POST',
    `${configMaps}?fieldValidation=Some`,
    configMap('a'),
    422,
    /fieldValidation: Unsupported value: "Some"/,
  ],
  ['a body that is not JSON', 'POST', configMaps, '{', 400, /must be of type JSON/],
  ['a body that is not an object', 'POST', configMaps, '[]', 400, /cannot be handled as a ConfigMap/],
  ['no body', 'POST', configMaps, undefined, 400, /the request has no body/],
  [
    'an unknown media type',
    'POST',
    configMaps,
    'x',
    415,
    /accepted media types include: application\/json/,
    { 'content-type': 'text/plain' },
  ],
  [
    'an unknown patch type',
    'PATCH',
    `${configMaps}/taken`,
    '{}',
    415,
    /application\/json-patch\+json, application\/merge-patch\+json, application\/strategic-merge-patch\+json/,
  ],
  [
    'a response format that is not supported',
    'GET',
    configMaps,
    undefined,
    406,
    /^406: Not Acceptable/,
    { accept: 'image/png' },
  ],
  [
    'an unknown resource',
    'GET',
    '/api/v1/widgets',
    undefined,
    404,
    /^the server could not find the requested resource$/,
  ],
  ['an unknown resource', 'GET', '/api/v1/nothing', undefined, 404, /could not find/],
  ['an unknown subresource', 'GET', `${configMaps}/taken/status`, undefined, 404, /could not find/],
  ['a missing object', 'DELETE', `${configMaps}/none`, undefined, 404, /^configmaps "none" not found$/],
  [
    'an update of a missing object',
    'PUT',
    `${configMaps}/none`,
    configMap('none'),
    404,
    /^configmaps "none" not found$/,
  ],
  [
    'another uid as precondition',
    'DELETE',
    `${configMaps}/taken`,
    { preconditions: { uid: 'x' } },
    409,
    /the UID in the precondition \(x\) does not match the UID in record /,
  ],
  [
    'an unknown propagation policy',
    'DELETE',
    `${configMaps}/taken?propagationPolicy=Sideways`,
    undefined,
    422,
    /^DeleteOptions\.meta\.k8s\.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"$/,
  ],
  [
    'an unknown field label',
    'GET',
    `${configMaps}?fieldSelector=spec.x=1`,
    undefined,
    400,
    /^"spec\.x" is not a known field selector: only "metadata\.name", "metadata\.namespace"$/,
  ],
  [
    'an unknown dryRun value',
    'POST',
    `${configMaps}?dryRun=Some`,
    configMap('a'),
    422,
    /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: \["Some"\]: supported values: "All"$/,
  ],
  ['a limit that is not a number', 'GET', `${configMaps}?limit=x`, undefined, 400, /^strconv\.ParseInt: parsing "x"/],
  [
    'a resourceVersionMatch without a version',
    'GET',
    `${configMaps}?resourceVersionMatch=Exact`,
    undefined,
    422,
    /^ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided$/,
  ],
  [
    'sendInitialEvents on a list',
    'GET',
    `${configMaps}?sendInitialEvents=true`,
    undefined,
    422,
    /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list$/,
  ],
  [
    'sendInitialEvents without resourceVersionMatch',
    'GET',
    `${configMaps}?watch=1&sendInitialEvents=true`,
    undefined,
    422,
    /resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan$/,
  ],
  [
    'a continue token with a resourceVersion',
    'GET',
    `${configMaps}?continue=x&resourceVersion=5`,
    undefined,
    400,
    /^specifying resource version is not allowed when using continue$/,
  ],
  [
    'a resourceVersion that is not a number',
    'GET',
    `${configMaps}?resourceVersion=x`,
    undefined,
    400,
    /invalid syntax/,
  ],
  ['a broken continue token', 'GET', `${configMaps}?limit=1&continue=zzz`, undefined, 400, /continue key is not valid/],
  [
    'deletion of a system namespace',
    'DELETE',
    '/api/v1/namespaces/default',
    undefined,
    403,
    /^namespaces "default" is forbidden: this namespace may not be deleted$/,
  ],
  ['an anonymous user', 'GET', configMaps, undefined, 401, /^Unauthorized$/, { anonymous: 'yes' }],
  [
    'an invalid token',
    'GET',
    configMaps,
    undefined,
    401,
    /^Unauthorized$/,
    { anonymous: 'yes', authorization: 'Bearer x' },
  ],
  ['a malformed path', 'GET', '/api/v1/namespaces/%E0%A4%A', undefined, 400, /malformed/],
  [
    'an unknown method',
    'BREW',
    configMaps,
    undefined,
    405,
    /^the server does not allow this method on the requested resource$/,
  ],
]
for (const [why, method, target, body, status, message, headers] of refused)
  test(`rejected: ${why}`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, configMap('taken'))
    const before = server.store.revision
    const answer = await server.call(method, target, body, headers)
    equal(answer.status, status, JSON.stringify(answer.body))
    deepEqual([answer.body.kind, answer.body.status, answer.body.code], ['Status', 'Failure', status])
    match(answer.body.message, message)
    equal(server.store.revision, before, 'nothing was written')
  })

for (const path of ['/nothing', '/apis/nothing.example', '/apis/nothing.example/v1', '/apis/nothing.example/v1/things'])
  test(`${path} is outside the groups of the server: the response is plain text`, async () => {
    await using server = await startServer()
    const { status, headers, body } = await server.call('GET', path)
    deepEqual([status, headers['content-type'], body], [404, 'text/plain; charset=utf-8', '404 page not found\n'])
  })

test("a rejection by authorization has upstream's message", async () => {
  await using server = await startServer({
    ...openPolicies,
    authorize: (asked) => (asked.kind === 'resource' && asked.resource === 'namespaces' ? allowed() : noOpinion()),
  })
  equal(
    (await server.call('GET', `${pods}/p`)).body.message,
    'pods "p" is forbidden: User "admin" cannot get resource "pods" in API group "" in the namespace "default"',
  )
  equal(
    (await server.call('GET', '/api/v1/nodes')).body.message,
    'nodes is forbidden: User "admin" cannot list resource "nodes" in API group "" at the cluster scope',
  )
  equal((await server.call('GET', '/metrics')).body.message, 'forbidden: User "admin" cannot get path "/metrics"')
})
