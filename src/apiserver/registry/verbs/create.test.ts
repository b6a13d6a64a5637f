// A resourceVersion on an object to be created: admission sees it, and only the write rejects it, as upstream.
import { deepEqual, equal, match } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { startServer, type Harness } from '../../server.harness.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const registration = '/apis/admissionregistration.k8s.io/v1'
const rejected = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'resourceVersion should not be set on objects to be created',
  code: 500,
}

const create = (server: Harness, name: string, resourceVersion: string, path = configMaps) =>
  server.call('POST', path, { metadata: { name, resourceVersion } })

async function make(server: Harness, plural: string, spec: object): Promise<void> {
  const { status, body } = await server.call('POST', `${registration}/${plural}`, { metadata: { name: 'p' }, spec })
  equal(status, 201, JSON.stringify(body))
}

const matchConstraints = {
  resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
}

suite('a resourceVersion on creation', () => {
  for (const version of ['5', '05', '18446744073709551615'])
    test(`is rejected without a reason if it is a revision: ${version}`, async () => {
      await using server = await startServer()
      deepEqual((await create(server, 'a', version)).body, rejected)
      equal((await server.call('GET', `${configMaps}/a`)).status, 404)
    })

  for (const version of ['', '0', 'abc', '-1', '+5', '18446744073709551616'])
    test(`is ignored if it is not a revision: ${JSON.stringify(version)}`, async () => {
      await using server = await startServer()
      const { status, body } = await create(server, 'a', version)
      equal(status, 201, JSON.stringify(body))
      equal(body.metadata.resourceVersion, (await server.call('GET', `${configMaps}/a`)).body.metadata.resourceVersion)
    })

  test('is rejected before a name that is taken, and after invalid fields and a missing namespace', async () => {
    await using server = await startServer()
    equal((await create(server, 'taken', '')).status, 201)
    deepEqual((await create(server, 'taken', '5')).body, rejected)
    equal((await create(server, 'A_B', '5')).status, 422)
    equal((await create(server, 'a', '5', '/api/v1/namespaces/none/configmaps')).status, 404)
  })

  test('remains in the result of a dry run', async () => {
    await using server = await startServer()
    const { status, body } = await create(server, 'a', '5', `${configMaps}?dryRun=All`)
    deepEqual([status, body.metadata.resourceVersion], [201, '5'])
    equal((await server.call('GET', `${configMaps}/a`)).status, 404)
  })

  test('is seen by validating admission, which rejects first', async () => {
    await using server = await startServer()
    const messageExpression = `"version " + object.metadata.resourceVersion`
    await make(server, 'validatingadmissionpolicies', {
      matchConstraints,
      validations: [{ expression: `object.metadata.name != 'denied'`, messageExpression }],
    })
    await make(server, 'validatingadmissionpolicybindings', { policyName: 'p', validationActions: ['Deny'] })
    const { status, body } = await create(server, 'denied', '5')
    equal(status, 422)
    match(body.message, /denied request: version 5$/)
    deepEqual((await create(server, 'other', '5')).body, rejected)
  })

  test('may be removed or added by mutating admission', async () => {
    await using server = await startServer()
    const expression = `object.metadata.name == 'removed'
      ? [JSONPatch{op: "remove", path: "/metadata/resourceVersion"}]
      : [JSONPatch{op: "add", path: "/metadata/resourceVersion", value: "7"}]`
    await make(server, 'mutatingadmissionpolicies', {
      matchConstraints,
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    })
    await make(server, 'mutatingadmissionpolicybindings', { policyName: 'p' })
    equal((await create(server, 'removed', '5')).status, 201)
    deepEqual((await create(server, 'added', '')).body, rejected)
  })
})
