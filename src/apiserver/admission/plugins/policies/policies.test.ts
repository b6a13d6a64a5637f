// Policies through the real port: what they reject, warn about, annotate and change, and what happens when they fail.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../../../base/observability/metrics.ts'
import { seededRandom } from '../../../../base/random/random.ts'
import { VirtualClock } from '../../../../base/time/virtual-clock.ts'
import { auditPolicy } from '../../../audit/audit-policy.ts'
import type { AuditEvent } from '../../../audit/audit-record.ts'
import { Auditor } from '../../../audit/auditor.ts'
import { ConfigReader } from '../../../config/config-reader.ts'
import { startServer, type HarnessResponse, type Harness } from '../../../server.harness.ts'
import { openPolicies } from '../../../open-policies.ts'

const registration = '/apis/admissionregistration.k8s.io/v1'
const maps = '/api/v1/namespaces/default/configmaps'
const rule = { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

async function make(server: Harness, plural: string, name: string, spec: object): Promise<void> {
  const { status, body } = await server.call('POST', `${registration}/${plural}`, { metadata: { name }, spec })
  equal(status, 201, JSON.stringify(body))
}

const validating = (server: Harness, spec: object, binding: object = {}) =>
  Promise.all([
    make(server, 'validatingadmissionpolicies', 'p', { matchConstraints: { resourceRules: [rule] }, ...spec }),
    make(server, 'validatingadmissionpolicybindings', 'b', {
      policyName: 'p',
      validationActions: ['Deny'],
      ...binding,
    }),
  ])

const mutating = (server: Harness, spec: object) =>
  Promise.all([
    make(server, 'mutatingadmissionpolicies', 'p', {
      matchConstraints: { resourceRules: [rule] },
      reinvocationPolicy: 'Never',
      ...spec,
    }),
    make(server, 'mutatingadmissionpolicybindings', 'b', { policyName: 'p' }),
  ])

const send = (server: Harness, data: object = { a: '1' }, metadata: object = { name: 'm' }): Promise<HarnessResponse> =>
  server.call('POST', maps, { metadata, data })
const denied = (message: string) =>
  `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`

const refusals: readonly (readonly [why: string, spec: object, code: number, message: string])[] = [
  [
    'an expression that is false',
    { validations: [{ expression: `object.data.a == '2'` }] },
    422,
    denied(`failed expression: object.data.a == '2'`),
  ],
  [
    'a message and a reason',
    { validations: [{ expression: 'false', message: ' no such thing ', reason: 'Forbidden' }] },
    403,
    denied('no such thing'),
  ],
  [
    'a message expression',
    { validations: [{ expression: 'false', messageExpression: `'a is ' + object.data.a`, message: 'no' }] },
    422,
    denied('a is 1'),
  ],
  [
    'a message expression with a line break is ignored',
    { validations: [{ expression: 'false', messageExpression: `'x\\ny'`, message: 'no' }] },
    422,
    denied('no'),
  ],
  [
    'an expression with a runtime error',
    { validations: [{ expression: `object.data.b == '1'` }] },
    422,
    denied(`expression 'object.data.b == '1'' resulted in error: no such key: b`),
  ],
  [
    'a variable with a runtime error',
    { variables: [{ name: 'v', expression: 'object.data.b' }], validations: [{ expression: `variables.v == '1'` }] },
    422,
    denied(
      `expression 'variables.v == '1'' resulted in error: composited variable "v" fails to evaluate: no such key: b`,
    ),
  ],
  [
    'variables that use other variables',
    {
      variables: [
        { name: 'keys', expression: 'object.data.map(k, k)' },
        { name: 'count', expression: 'variables.keys.size()' },
      ],
      validations: [{ expression: 'variables.count > 5' }],
    },
    422,
    denied('failed expression: variables.count > 5'),
  ],
  [
    'fields of the request and of the namespace',
    {
      validations: [
        {
          expression: `!(request.operation == 'CREATE' && request.namespace == 'default' && oldObject == null && namespaceObject.metadata.name == 'default' && request.userInfo.username != '')`,
          message: 'seen',
        },
      ],
    },
    422,
    denied('seen'),
  ],
  [
    'a check with the authorizer',
    {
      validations: [
        {
          expression: `!authorizer.group('').resource('pods').namespace('default').check('create').allowed() || !authorizer.requestResource.check('create').allowed()`,
          message: 'may',
        },
      ],
    },
    422,
    denied('may'),
  ],
  [
    'an expression beyond the cost limit',
    {
      validations: [
        {
          expression: `[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f >= 0))))))`,
        },
      ],
    },
    422,
    denied(
      `expression '[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f >= 0))))))' resulted in error: operation cancelled: actual cost limit exceeded`,
    ),
  ],
]

for (const [why, spec, code, message] of refusals)
  test(`a policy rejects: ${why}`, async () => {
    await using server = await startServer()
    await validating(server, spec)
    const { status, body } = await send(server)
    deepEqual([status, body.message], [code, message])
    deepEqual(body.details.causes, [{ message: message.replace('configmaps "m" is forbidden: ', '') }])
  })

const admissions: readonly (readonly [why: string, spec: object, binding?: object])[] = [
  ['an expression that is true', { validations: [{ expression: `object.data.a == '1'` }] }],
  [
    'a runtime error with failurePolicy Ignore',
    { failurePolicy: 'Ignore', validations: [{ expression: `object.data.b == '1'` }] },
  ],
  [
    'match conditions that exclude the object',
    { matchConditions: [{ name: 'c', expression: `request.name != 'm'` }], validations: [{ expression: 'false' }] },
  ],
  [
    'resource rules for another name',
    {
      matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['other'] }] },
      validations: [{ expression: 'false' }],
    },
  ],
  [
    'resource rules that exclude the object',
    {
      matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, operations: ['CREATE'] }] },
      validations: [{ expression: 'false' }],
    },
  ],
  [
    'a binding that excludes the object',
    { validations: [{ expression: 'false' }] },
    { matchResources: { objectSelector: { matchLabels: { x: 'y' } } } },
  ],
]

for (const [why, spec, binding] of admissions)
  test(`a policy admits: ${why}`, async () => {
    await using server = await startServer()
    await validating(server, spec, binding)
    equal((await send(server)).status, 201)
  })

test('a policy with the action Warn adds a warning', async () => {
  await using server = await startServer()
  await validating(
    server,
    { validations: [{ expression: 'false', message: 'careful' }] },
    { validationActions: ['Warn', 'Audit'] },
  )
  const { status, headers } = await send(server)
  deepEqual(
    [status, headers['warning']],
    [201, [`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': careful"`]],
  )
})

test('parameters are found by name, by selector, or are absent', async () => {
  await using server = await startServer()
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const expression = 'params == null || int(object.data.a) <= int(params.data.max)'
  await make(server, 'validatingadmissionpolicies', 'p', {
    paramKind,
    matchConstraints: { resourceRules: [{ ...rule, resources: ['secrets'] }] },
    validations: [{ expression: expression.replaceAll('object.data.a', 'object.metadata.labels.a') }],
  })
  const secret = (a: string) =>
    server.call('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: `s${a}`, labels: { a } } })
  const paramRef = { name: 'limits', parameterNotFoundAction: 'Deny' }
  await make(server, 'validatingadmissionpolicybindings', 'b', {
    policyName: 'p',
    validationActions: ['Deny'],
    paramRef,
  })
  match(
    (await secret('1')).body.message,
    /denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
  )
  await send(server, { max: '3' }, { name: 'limits', labels: { kind: 'limits' } })
  equal((await secret('2')).status, 201)
  equal((await secret('4')).status, 422)
})

test('a missing parameter is ignored with parameterNotFoundAction Allow', async () => {
  await using server = await startServer()
  await validating(
    server,
    { paramKind: { apiVersion: 'v1', kind: 'Secret' }, validations: [{ expression: 'false' }] },
    { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } },
  )
  equal((await send(server)).status, 201)
})

test('a mutating policy applies configurations and patches', async () => {
  await using server = await startServer()
  await mutating(server, {
    variables: [{ name: 'mark', expression: `'by-' + request.operation.lowerAscii()` }],
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: {
          expression: `Object{metadata: Object.metadata{labels: {'mark': variables.mark}}, data: {'b': object.data.a + '2'}}`,
        },
      },
      {
        patchType: 'JSONPatch',
        jsonPatch: {
          expression: `[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('c.d'), value: object.data.b}]`,
        },
      },
    ],
  })
  const { status, body } = await send(server)
  equal(status, 201, JSON.stringify(body))
  deepEqual([body.data, body.metadata.labels], [{ a: '1', b: '12', 'c.d': '12' }, { mark: 'by-create' }])
})

test('a mutating policy that fails rejects the request unless its failurePolicy is Ignore', async () => {
  for (const [failurePolicy, code] of [
    ['Fail', 422],
    ['Ignore', 201],
  ] as const) {
    await using server = await startServer()
    await mutating(server, {
      failurePolicy,
      mutations: [
        { patchType: 'JSONPatch', jsonPatch: { expression: `[JSONPatch{op: 'remove', path: '/data/missing'}]` } },
      ],
    })
    const { status, body } = await send(server)
    equal(status, code)
    if (code === 422) match(body.message, /^configmaps "m" is forbidden: policy 'p' with binding 'b' denied request: /)
  }
})

test('an atomic field cannot be applied in part', async () => {
  await using server = await startServer()
  await mutating(server, {
    matchConstraints: { resourceRules: [{ ...rule, resources: ['services'] }] },
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: `Object{spec: Object.spec{selector: {'x': 'y'}}}` },
      },
    ],
  })
  const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], selector: { a: 'b' } } }
  const { status, body } = await server.call('POST', '/api/v1/namespaces/default/services', service)
  equal(status, 422)
  match(body.message, /may not mutate atomic arrays, maps or structs: \.spec\.selector$/)
})

/** A server that audits its requests at a level. */
async function startRecorded(level: string) {
  const clock = new VirtualClock()
  const events: AuditEvent[] = []
  const write = (event: AuditEvent) => Promise.resolve(events.push(event) > 0)
  const rules = [{ level, verbs: ['create'], resources: [{ group: '', resources: ['configmaps'] }] }]
  const audit = new Auditor({
    policy: auditPolicy(new ConfigReader({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules })),
    backends: [{ write, close: () => Promise.resolve() }],
    clock,
    random: seededRandom(1),
    metrics: new Metrics(),
  })
  const server = await startServer({ ...openPolicies, audit }, { clock })
  const annotations = (): Record<string, string> => {
    const own = { ...(events.at(-1)?.['annotations'] as Record<string, string>) }
    for (const key of Object.keys(own)) if (key.startsWith('authorization.k8s.io/')) delete own[key]
    return own
  }
  return { ...server, annotations }
}

const annotated: readonly (readonly [why: string, spec: object, binding: object, annotations: object])[] = [
  [
    'values of expressions; null adds no annotation',
    {
      validations: [{ expression: 'true' }],
      auditAnnotations: [
        { key: 'owner', valueExpression: `'owner of ' + object.metadata.name` },
        { key: 'nothing', valueExpression: 'null' },
      ],
    },
    {},
    { 'p/owner': 'owner of m' },
  ],
  [
    'a violation with the action Audit',
    { validations: [{ expression: `object.data.a == '2'`, message: 'not two' }] },
    { validationActions: ['Audit'] },
    {
      'validation.policy.admission.k8s.io/validation_failure': JSON.stringify([
        { message: 'not two', policy: 'p', binding: 'b', expressionIndex: 0, validationActions: ['Audit'] },
      ]),
    },
  ],
  [
    'annotations of another request are not added',
    {
      matchConditions: [{ name: 'other', expression: `object.metadata.name == 'other'` }],
      auditAnnotations: [{ key: 'owner', valueExpression: `'x'` }],
      validations: [{ expression: 'true' }],
    },
    {},
    {},
  ],
]
for (const [why, spec, binding, annotations] of annotated)
  test(`a policy adds audit annotations: ${why}`, async () => {
    await using server = await startRecorded('Metadata')
    await validating(server, spec, binding)
    equal((await send(server)).status, 201)
    deepEqual(server.annotations(), annotations)
  })

test('an audit annotation that fails rejects the request unless the failurePolicy is Ignore', async () => {
  const auditAnnotations = [{ key: 'owner', valueExpression: `'x' + object.data.b` }]
  for (const [failurePolicy, code] of [
    ['Fail', 422],
    ['Ignore', 201],
  ] as const) {
    await using server = await startRecorded('Metadata')
    await validating(server, { auditAnnotations, failurePolicy })
    const { status, body } = await send(server)
    equal(status, code, JSON.stringify(body))
    if (code === 422)
      match(body.message, /denied request: expression ''x' \+ object.data.b' resulted in error: no such key: b$/)
  }
})

const appending = (name: string) => ({
  patchType: 'JSONPatch',
  jsonPatch: {
    expression: `[JSONPatch{op: "add", path: "/data/order", value: (has(object.data.order) ? object.data.order : "") + "${name}"}]`,
  },
})
for (const [policy, order] of [
  ['Never', 'ab'],
  ['IfNeeded', 'aba'],
] as const)
  test(`reinvocation of a mutating policy whose object another policy changed: ${policy}`, async () => {
    await using server = await startServer()
    for (const name of ['a', 'b']) {
      await make(server, 'mutatingadmissionpolicies', name, {
        matchConstraints: { resourceRules: [rule] },
        reinvocationPolicy: name === 'a' ? policy : 'Never',
        mutations: [appending(name)],
      })
      await make(server, 'mutatingadmissionpolicybindings', name, { policyName: name })
    }
    const { status, body } = await send(server)
    equal(status, 201, JSON.stringify(body))
    equal(body.data.order, order)
  })
