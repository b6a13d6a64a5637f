// Tables for admission: webhooks, policies and their bindings.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, errorsOf, objectFrom, testInvalidObjects } from '../../kind/kind.harness.ts'
import { mutatingAdmissionPolicyBinding } from './mutating-admission-policy-binding.ts'
import { mutatingAdmissionPolicy } from './mutating-admission-policy.ts'
import { mutatingWebhookConfiguration } from './mutating-webhook-configuration.ts'
import { validatingAdmissionPolicyBinding } from './validating-admission-policy-binding.ts'
import { validatingAdmissionPolicy } from './validating-admission-policy.ts'
import { validatingWebhookConfiguration } from './validating-webhook-configuration.ts'

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const webhook = {
  name: 'a.b.c',
  clientConfig: { url: 'https://127.0.0.1:9/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [rule],
}
const service = { namespace: 'n', name: 's' }

const hooks = (...changes: object[]): object => ({ webhooks: changes.map((change) => ({ ...webhook, ...change })) })
const ruled = (change: object): object => hooks({ rules: [{ ...rule, ...change }] })
const called = (clientConfig: object): object => hooks({ clientConfig })

testInvalidObjects(validatingWebhookConfiguration, [
  ['no webhooks', {}, []],
  ['a webhook', hooks({}), []],
  [
    'duplicate groups and an unusual resource name in a rule',
    ruled({ apiGroups: ['', ''], resources: ['pods', 'Bad Value!'] }),
    [],
  ],
  [
    'an empty webhook',
    { webhooks: [{}] },
    [
      'webhooks[0].name: Required value',
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
      'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
  ],
  [
    'a name with two segments',
    hooks({ name: 'a.b' }),
    ['webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
  ],
  ['the same name twice', hooks({}, {}), ['webhooks[1].name: Duplicate value: "a.b.c"']],
  [
    'unsupported side effects and a timeout of 0',
    hooks({ sideEffects: 'Some', timeoutSeconds: 0 }),
    [
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
      'webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds',
    ],
  ],
  [
    'unknown and duplicate versions',
    hooks({ admissionReviewVersions: ['v2', 'v2'] }),
    [
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ],
  ],
  [
    'an empty rule',
    hooks({ rules: [{}] }),
    ['operations', 'apiGroups', 'apiVersions', 'resources'].map(
      (field) => `webhooks[0].rules[0].${field}: Required value`,
    ),
  ],
  [
    'an unknown operation beside *',
    ruled({ operations: ['*', 'READ'] }),
    [
      'webhooks[0].rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      `webhooks[0].rules[0].operations: Invalid value: ["*","READ"]: if '*' is present, must not specify other operations`,
    ],
  ],
  ['an empty version', ruled({ apiVersions: [''] }), ['webhooks[0].rules[0].apiVersions[0]: Required value']],
  [
    'a subresource that another entry covers',
    ruled({ resources: ['pods/*', 'pods/status'] }),
    [
      `webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`,
    ],
  ],
  [
    'all resources, and one of them',
    ruled({ resources: ['*', 'pods'] }),
    [
      `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  ],
  [
    'a condition without a name and an expression',
    hooks({ matchConditions: [{ name: '', expression: ' ' }] }),
    [
      'webhooks[0].matchConditions[0].expression: Required value',
      'webhooks[0].matchConditions[0].name: Required value',
    ],
  ],
  [
    'conditions that do not compile or are not boolean',
    hooks({
      matchConditions: [
        { name: 'a', expression: 'objects.x' },
        { name: 'b', expression: 'object.x' },
      ],
    }),
    [
      `webhooks[0].matchConditions[0].expression: Invalid value: "objects.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'objects' (in container '')\n | objects.x\n | ^`,
      'webhooks[0].matchConditions[1].expression: Invalid value: "object.x": must evaluate to bool but got dyn',
    ],
  ],
  [
    'more conditions than there may be',
    hooks({ matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })) }),
    ['webhooks[0].matchConditions: Too many: 65: must have at most 64 items'],
  ],
])

testInvalidObjects(validatingWebhookConfiguration, [
  ['a service', called({ service: { ...service, path: '/a/b/' } }), []],
  [
    'a URL and a service',
    called({ url: 'https://h', service }),
    ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
  ],
  [
    'a URL without a scheme',
    called({ url: 'word' }),
    [
      `webhooks[0].clientConfig.url: Invalid value: "": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
    ],
  ],
  [
    'a URL with user, query and fragment',
    called({ url: 'http://me:secret@host/path?query#fragment' }),
    [
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'webhooks[0].clientConfig.url: Invalid value: "me:secret": user information is not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "fragment": fragments are not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "query": query parameters are not permitted in the URL',
    ],
  ],
  [
    'a service without names and with a port above 65535',
    called({ service: { port: 70_000 } }),
    [
      'webhooks[0].clientConfig.service.name: Required value',
      'webhooks[0].clientConfig.service.namespace: Required value',
      'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    'a service without a namespace, which upstream reports as its name',
    called({ service: { name: 'a' } }),
    ['webhooks[0].clientConfig.service.name: Required value'],
  ],
  [
    'a path with an empty segment',
    called({ service: { ...service, path: 'ab//c' } }),
    [
      `webhooks[0].clientConfig.service.path: Invalid value: "ab//c": must start with a '/'`,
      'webhooks[0].clientConfig.service.path: Invalid value: "ab//c": segment[1] may not be empty',
    ],
  ],
])

test('a webhook matches everything, has a timeout of ten seconds, and fails closed by default', () => {
  const defaults = {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  }
  const sent = called({ service })
  const expected = {
    ...webhook,
    ...defaults,
    clientConfig: { service: { ...service, port: 443 } },
    rules: [{ ...rule, scope: '*' }],
  }
  deepEqual(objectFrom(validatingWebhookConfiguration, sent).webhooks, [expected])
  deepEqual(objectFrom(mutatingWebhookConfiguration, sent).webhooks, [{ ...expected, reinvocationPolicy: 'Never' }])
})

test('a mutating webhook has the same rules', () => {
  deepEqual(errorsOf(mutatingWebhookConfiguration, hooks({ name: '' })), ['webhooks[0].name: Required value'])
})

const matchConstraints = { resourceRules: [rule] }
const policy = { matchConstraints, validations: [{ expression: 'true' }] }
const mutatingPolicy = {
  matchConstraints,
  reinvocationPolicy: 'Never',
  mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "test", path: "/spec"}]' } }],
}

testInvalidObjects(validatingAdmissionPolicy, [
  ['a policy', { spec: policy }, []],
  [
    'nothing',
    {},
    [
      'spec.matchConstraints: Required value',
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ],
  ],
  [
    'constraints without a rule',
    { spec: { ...policy, matchConstraints: {} } },
    ['spec.matchConstraints.resourceRules: Required value'],
  ],
  [
    'a duplicate name and one that is not a path segment',
    { spec: { ...policy, matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a', 'b/c'] }] } } },
    [
      'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
      `spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain '/'`,
    ],
  ],
  [
    'paramKind with an invalid version',
    { spec: { ...policy, paramKind: { apiVersion: 'a/b/c', kind: '1' } } },
    [
      'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      /^spec\.paramKind\.kind: Invalid value: "1": may have mixed case, but should otherwise match: a DNS-1035 label/,
    ],
  ],
  [
    'variables with an invalid name or without an expression',
    {
      spec: {
        ...policy,
        variables: [
          { name: 'in', expression: '1' },
          { name: 'a', expression: '' },
        ],
      },
    },
    [
      'spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier',
      'spec.variables[1].expression: Required value: expression is not specified',
    ],
  ],
  [
    'a validation without an expression, with a multi-line message and an unknown reason',
    { spec: { ...policy, validations: [{ expression: '', message: 'a\nb', reason: 'x' }] } },
    [
      'spec.validations[0].expression: Required value: expression is not specified',
      String.raw`spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks`,
      'spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
  ],
  [
    'expressions of another type and with unknown names',
    {
      spec: {
        ...policy,
        variables: [{ name: 'n', expression: '1' }],
        matchConditions: [{ name: 'c', expression: 'variables.n == 1' }],
        validations: [{ expression: `variables.n == 'a'`, messageExpression: '1' }, { expression: 'params.x == 1' }],
        auditAnnotations: [{ key: 'k', valueExpression: '1' }],
      },
    },
    [
      /^spec\.matchConditions\[0\]\.expression: .*undeclared reference to 'variables'/,
      /^spec\.validations\[0\]\.expression: .*found no matching overload for '_==_' applied to '\(int, string\)'/,
      'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
      /^spec\.validations\[1\]\.expression: .*undeclared reference to 'params'/,
      /^spec\.auditAnnotations\[0\]\.valueExpression: Invalid value: "1": must evaluate to one of \[string null_type\] but got int/,
    ],
  ],
  [
    'a duplicate annotation without an expression',
    {
      spec: {
        matchConstraints,
        auditAnnotations: [
          { key: 'k', valueExpression: '"1"' },
          { key: 'k', valueExpression: '' },
        ],
      },
    },
    [
      'spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified',
      'spec.auditAnnotations[1].key: Duplicate value: "k"',
    ],
  ],
])

testInvalidObjects(mutatingAdmissionPolicy, [
  ['a policy', { spec: mutatingPolicy }, []],
  [
    'nothing',
    {},
    [
      'spec.reinvocationPolicy: Required value',
      'spec.matchConstraints: Required value',
      'spec.mutations: Required value: mutations must contain at least one item',
    ],
  ],
  [
    'a mutating policy for DELETE',
    { spec: { ...mutatingPolicy, matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } } },
    [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  ],
  [
    'the patch in the wrong field',
    { spec: { ...mutatingPolicy, mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'x' } }] } },
    [
      'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
    ],
  ],
  [
    'an unknown patch type',
    { spec: { ...mutatingPolicy, mutations: [{ patchType: 'x' }] } },
    ['spec.mutations[0].patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"'],
  ],
])

testInvalidObjects(validatingAdmissionPolicyBinding, [
  ['a binding', { spec: { policyName: 'p', validationActions: ['Deny', 'Audit'] } }, []],
  [
    'nothing',
    {},
    [
      'spec.policyName: Required value',
      'spec.validationActions: Required value: at least one validation action is required',
    ],
  ],
  [
    'actions that exclude each other, are duplicated or unknown',
    { spec: { policyName: 'p', validationActions: ['Deny', 'Warn', 'Deny', 'x'] } },
    [
      'spec.validationActions[3]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn"',
      'spec.validationActions[2]: Duplicate value: "Deny"',
      /^spec\.validationActions: Invalid value: \["Deny","Warn","Deny","x"\]: must not contain both Deny and Warn/,
    ],
  ],
])

testInvalidObjects(mutatingAdmissionPolicyBinding, [
  ['a binding', { spec: { policyName: 'p', paramRef: { name: 'a', parameterNotFoundAction: 'Deny' } } }, []],
  [
    'paramRef with a name and a selector',
    { spec: { policyName: 'p', paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'x' } } },
    [
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow"',
    ],
  ],
  [
    'paramRef without a name or selector',
    { spec: { policyName: 'p', paramRef: {} } },
    [
      'spec.paramRef: Required value: one of name or selector must be specified',
      'spec.paramRef.parameterNotFoundAction: Required value',
    ],
  ],
])

test('a policy rejects on failure, and matches equivalent requests', () => {
  const { failurePolicy, matchConstraints: match } = objectFrom(validatingAdmissionPolicy, { spec: policy }).spec
  equal(failurePolicy, 'Fail')
  deepEqual(match, {
    resourceRules: [{ ...rule, scope: '*' }],
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
  })
})

test('the columns of admission objects', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  deepEqual(cellsOf(mutatingWebhookConfiguration, hooks({}, {})), ['x', 2, '60s'])
  deepEqual(cellsOf(validatingAdmissionPolicy, { spec: { ...policy, paramKind } }), ['x', 1, 'v1/ConfigMap', '60s'])
  deepEqual(cellsOf(mutatingAdmissionPolicy, { spec: mutatingPolicy }), ['x', 1, '<unset>', '60s'])
  const refs: [object | undefined, string][] = [
    [undefined, '<unset>'],
    [{ name: 'a' }, '*/a'],
    [{ name: 'a', namespace: 'n' }, 'n/a'],
    [{ selector: { matchLabels: { a: 'b' } } }, 'a=b'],
  ]
  for (const [paramRef, text] of refs)
    for (const kind of [validatingAdmissionPolicyBinding, mutatingAdmissionPolicyBinding])
      deepEqual(cellsOf<never>(kind as never, { spec: { policyName: 'p', paramRef } }), ['x', 'p', text, '60s'])
})

test('policies and webhooks have generations', () => {
  for (const kind of [
    mutatingAdmissionPolicy,
    mutatingAdmissionPolicyBinding,
    mutatingWebhookConfiguration,
    validatingAdmissionPolicy,
    validatingAdmissionPolicyBinding,
    validatingWebhookConfiguration,
  ])
    equal(kind.countsGenerations, true, kind.kind)
})
