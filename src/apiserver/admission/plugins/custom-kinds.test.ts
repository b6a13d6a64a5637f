// Admission of custom objects: versions that rules match, parameters of custom kinds, owners of custom kinds.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { customDefinition, customVersion, define } from '../../custom-resources/custom-resource.harness.ts'
import { openPolicies } from '../../open-policies.ts'
import { startServer, type Harness } from '../../server.harness.ts'
import { denied, allowed } from '../../authorization/authorizer.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { patchWith, register, startHooked, webhook, webhookServer } from './webhooks/webhooks.harness.ts'

const text = { type: 'string' }
const widgets = customDefinition('widgets', 'Widget', [
  customVersion('v1', { size: text, color: { ...text, default: 'red' } }),
  customVersion('v1beta1', { size: text }),
])
const limits = customDefinition('limits', 'Limit', [
  customVersion('v1', { size: text }),
  customVersion('v2', { size: text }),
])
const path = (plural: string, version = 'v1') => `/apis/example.com/${version}/namespaces/default/${plural}`
const widget = (name: string, version = 'v1', more: object = {}) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name },
  size: 'big',
  ...more,
})
const rule = { operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['widgets'] }

for (const [version, matchPolicy, called] of [
  ['v1', 'Exact', true],
  ['v1beta1', 'Exact', false],
  ['v1beta1', 'Equivalent', true],
] as const)
  test(`a webhook for v1 with matchPolicy ${matchPolicy} is ${called ? '' : 'not '}called for ${version}`, async () => {
    await using hooks = await webhookServer(() => patchWith({ op: 'add', path: '/color', value: 'blue' }))
    await using server = await startHooked()
    await define(server, widgets)
    await register(server, 'mutating', webhook(hooks, { matchPolicy, rules: [rule] }))
    equal((await server.call('POST', path('widgets', version), widget('a', version))).status, 201)
    const [asked] = hooks.asked
    equal(asked !== undefined, called)
    if (asked !== undefined) {
      const { object, kind, requestKind } = asked.request
      deepEqual([object.apiVersion, kind.version, requestKind.version], ['example.com/v1', 'v1', version])
    }
    const { color } = (await server.call('GET', `${path('widgets')}/a`)).body
    // A field that the version of the request does not have is lost when the object is converted back.
    equal(color, called && version === 'v1' ? 'blue' : 'red')
  })

test('a validating webhook gets both objects in the version that it matches', async () => {
  await using hooks = await webhookServer(() => ({}))
  await using server = await startHooked()
  await define(server, widgets)
  const rules = [{ ...rule, operations: ['UPDATE'] }]
  await register(server, 'validating', webhook(hooks, { matchPolicy: 'Equivalent', rules }))
  await server.call('POST', path('widgets'), widget('a'))
  const merge = { 'content-type': 'application/merge-patch+json' }
  const { status } = await server.call('PATCH', `${path('widgets', 'v1beta1')}/a`, { size: 's' }, merge)
  equal(status, 200)
  const { object, oldObject } = hooks.asked[0]?.request ?? {}
  deepEqual(
    [object, oldObject].map((each) => [each.apiVersion, each.size]),
    [
      ['example.com/v1', 's'],
      ['example.com/v1', 'big'],
    ],
  )
})

const registration = '/apis/admissionregistration.k8s.io/v1'

async function policy(server: Harness, kind: 'validating' | 'mutating', spec: object, binding: object): Promise<void> {
  const matchConstraints = { resourceRules: [rule] }
  for (const [plural, body] of [
    [`${kind}admissionpolicies`, { metadata: { name: 'p' }, spec: { matchConstraints, ...spec } }],
    [`${kind}admissionpolicybindings`, { metadata: { name: 'b' }, spec: { policyName: 'p', ...binding } }],
  ] as const) {
    const { status, body: answer } = await server.call('POST', `${registration}/${plural}`, body)
    equal(status, 201, JSON.stringify(answer))
  }
}

test('a policy reads custom objects and parameters of a custom kind, in the version of the parameter kind', async () => {
  await using server = await startServer()
  await define(server, widgets)
  await policy(
    server,
    'validating',
    {
      paramKind: { apiVersion: 'example.com/v2', kind: 'Limit' },
      validations: [
        { expression: "params.apiVersion == 'example.com/v2' && object.size == params.size && object.color == 'red'" },
      ],
    },
    { validationActions: ['Deny'], paramRef: { name: 'l', parameterNotFoundAction: 'Deny' } },
  )
  const create = async (name: string, size: string) =>
    (await server.call('POST', path('widgets'), widget(name, 'v1', { size }))).body as { message?: string }
  match(
    (await create('a', 'big')).message ?? '',
    /failed to find resource referenced by paramKind: 'example.com\/v2, Kind=Limit'$/,
  )
  await define(server, limits)
  match((await create('a', 'big')).message ?? '', /no params found for policy binding/)
  await server.call('POST', path('limits'), {
    apiVersion: 'example.com/v1',
    kind: 'Limit',
    metadata: { name: 'l' },
    size: 'big',
  })
  equal((await create('a', 'big')).message, undefined)
  match((await create('b', 'small')).message ?? '', /failed expression: /)
})

test('a mutating policy applies a configuration to a custom object by its schema', async () => {
  await using server = await startServer()
  await define(server, widgets)
  const mutation = (expression: string) => ({
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  })
  await policy(server, 'mutating', mutation("Object{color: 'blue'}"), {})
  const { body } = await server.call('POST', path('widgets'), widget('a'))
  deepEqual([body.size, body.color], ['big', 'blue'])
})

test('owner references to custom kinds need the permission to set the finalizers of the owner', async () => {
  const admission = [ownerReferencesPermissionEnforcement]
  await using server = await startServer({
    ...openPolicies,
    admission,
    authorize: (attributes) =>
      attributes.kind === 'resource' && attributes.subresource === 'finalizers' ? denied() : allowed(),
  })
  const owner = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'a', uid: 'u', blockOwnerDeletion: true }
  const create = async () =>
    (
      await server.call('POST', '/api/v1/namespaces/default/configmaps', {
        metadata: { name: 'm', ownerReferences: [owner] },
      })
    ).body.message
  match(await create(), /no matches for kind "Widget" in version "example.com\/v1"$/)
  await define(server, widgets)
  match(await create(), /a resource you can't set finalizers on: widgets.example.com "a"$/)
})
