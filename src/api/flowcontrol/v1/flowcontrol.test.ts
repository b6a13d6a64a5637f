// Tables for flow control: FlowSchema and PriorityLevelConfiguration.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, errorsOf, objectFrom, testInvalidObjects } from '../../kind/kind.harness.ts'
import { flowSchema } from './flow-schema.ts'
import { priorityLevelConfiguration } from './priority-level-configuration.ts'

const level = { priorityLevelConfiguration: { name: 'global-default' } }
const user = { kind: 'User', user: { name: 'u' } }
const nonResourceRule = { verbs: ['get'], nonResourceURLs: ['/healthz', '/logs/*'] }
const resourceRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }
const matching = (rule: object): object => ({
  spec: { ...level, rules: [{ subjects: [user], nonResourceRules: [nonResourceRule], ...rule }] },
})
const at = 'spec.rules[0]'

testInvalidObjects(flowSchema, [
  ['only a level', { spec: level }, []],
  ['a rule', matching({ resourceRules: [resourceRule] }), []],
  ['no level', {}, ['spec.priorityLevelConfiguration.name: Required value: must reference a priority level']],
  [
    'an invalid level without a distinguisher',
    { spec: { priorityLevelConfiguration: { name: 'Bad Value!' }, distinguisherMethod: { type: 'x' } } },
    [
      'spec.distinguisherMethod.type: Unsupported value: "x": supported values: "ByNamespace", "ByUser"',
      /^spec\.priorityLevelConfiguration\.name: Invalid value: "Bad Value!": a lowercase RFC 1123 subdomain/,
    ],
  ],
  [
    'a precedence below one',
    { spec: { ...level, matchingPrecedence: -1 } },
    ['spec.matchingPrecedence: Invalid value: -1: must be a positive value'],
  ],
  [
    'a precedence beyond the last',
    { spec: { ...level, matchingPrecedence: 10_001 } },
    ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
  ],
  [
    'the precedence of the exempt schema',
    { spec: { ...level, matchingPrecedence: 1 } },
    ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  ],
  [
    'a rule without subjects and resources',
    { spec: { ...level, rules: [{}] } },
    [
      `${at}.subjects: Required value: subjects must contain at least one value`,
      `${at}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`,
    ],
  ],
  [
    'subjects without identity, with that of another kind, and of no kind',
    matching({ subjects: [{ kind: 'Group', user: { name: 'u' } }, { kind: 'x' }] }),
    [
      `${at}.subjects[0].group: Required value: group is required when subject kind is 'Group'`,
      `${at}.subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'`,
      `${at}.subjects[1].kind: Unsupported value: "x": supported values: "Group", "ServiceAccount", "User"`,
    ],
  ],
  [
    'a service account without a namespace',
    matching({ subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '*' } }] }),
    [`${at}.subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account`],
  ],
  [
    'resources without values',
    matching({ resourceRules: [{}] }),
    [
      `${at}.resourceRules[0].verbs: Required value: verbs must contain at least one value`,
      `${at}.resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group`,
      `${at}.resourceRules[0].resources: Required value: resource rules must supply at least one resource`,
      `${at}.resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace`,
    ],
  ],
  [
    'a wildcard beside other values',
    matching({ resourceRules: [{ ...resourceRule, verbs: ['*', 'get'], namespaces: ['*', 'a'] }] }),
    [
      `${at}.resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
      `${at}.resourceRules[0].namespaces: Invalid value: ["*","a"]: if '*' is present, must not specify other namespaces`,
    ],
  ],
  [
    'unknown verbs and invalid URLs',
    matching({ nonResourceRules: [{ verbs: ['fly'], nonResourceURLs: ['a', '/b c', '//', '/*/d'] }] }),
    [
      `${at}.nonResourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`,
      `${at}.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash`,
      `${at}.nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/b c": must not contain white-space`,
      `${at}.nonResourceRules[0].nonResourceURLs[2]: Invalid value: "//": must not contain double slash`,
      `${at}.nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/*/d": wildcard can only do suffix matching`,
    ],
  ],
  [
    'the exempt schema with another subject',
    { metadata: { name: 'exempt' }, spec: { ...level, matchingPrecedence: 1 } },
    [/^spec: Invalid value: .*: spec of 'exempt' must equal the fixed value$/],
  ],
  [
    'a condition twice, and one without a type',
    { spec: level, status: { conditions: [{ type: 'a' }, { type: 'a' }, {}] } },
    ['status.conditions[1].type: Duplicate value: "a"', 'status.conditions[2].type: Required value: must not be empty'],
  ],
])

const limitedTo = (limited: object): object => ({ spec: { type: 'Limited', limited } })
const queued = (queuing: object): object => limitedTo({ limitResponse: { type: 'Queue', queuing } })
const queuingAt = 'spec.limited.limitResponse.queuing'

testInvalidObjects(priorityLevelConfiguration, [
  ['queues by default', queued({}), []],
  ['no type', {}, ['spec.type: Unsupported value: "": supported values: "Exempt", "Limited"']],
  [
    'an exemption under another name, with limits',
    { spec: { type: 'Exempt', limited: { limitResponse: { type: 'Reject' } } } },
    [
      `spec.type: Invalid value: "Exempt": must be 'Exempt' if and only if \`name\` is 'exempt'`,
      'spec.limited: Forbidden: must be nil if the type is not Limited',
    ],
  ],
  [
    'type Limited without limits',
    { spec: { type: 'Limited' } },
    ['spec.limited: Required value: must not be empty when type is Limited'],
  ],
  [
    'shares that are out of bounds',
    limitedTo({
      nominalConcurrencyShares: -1,
      lendablePercent: 101,
      borrowingLimitPercent: -1,
      limitResponse: { type: 'Reject', queuing: {} },
    }),
    [
      'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
      'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
      'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
      `${queuingAt}: Forbidden: must be nil if limited.limitResponse.type is not Limited`,
    ],
  ],
  [
    'queuing without queues',
    limitedTo({ limitResponse: { type: 'Queue' } }),
    [`${queuingAt}: Required value: must not be empty if limited.limitResponse.type is Limited`],
  ],
  [
    'negative queues, hand size and queue length',
    queued({ queues: -1, handSize: -1, queueLengthLimit: -1 }),
    [
      `${queuingAt}.queueLengthLimit: Invalid value: -1: must be positive`,
      `${queuingAt}.queues: Invalid value: -1: must be positive`,
      `${queuingAt}.handSize: Invalid value: -1: must be positive`,
    ],
  ],
  [
    'a hand size above the number of queues',
    queued({ queues: 4, handSize: 5 }),
    [`${queuingAt}.handSize: Invalid value: 5: should not be greater than queues (4)`],
  ],
  [
    'a hand size beyond the bits of the hash',
    queued({ queues: 128, handSize: 10 }),
    [
      `${queuingAt}.handSize: Invalid value: 10: required entropy bits of deckSize 128 and handSize 10 should not be greater than 60`,
    ],
  ],
  [
    'the catch-all level with another spec',
    { metadata: { name: 'catch-all' }, ...limitedTo({ limitResponse: { type: 'Reject' } }) },
    [/^spec: Invalid value: .*: spec of 'catch-all' must equal the fixed value$/],
  ],
])

test('zero means the default, as Go clients send it', () => {
  equal(objectFrom(flowSchema, { spec: level }).spec.matchingPrecedence, 1000)
  equal(objectFrom(flowSchema, { spec: { ...level, matchingPrecedence: 0 } }).spec.matchingPrecedence, 1000)
  deepEqual(objectFrom(priorityLevelConfiguration, queued({ queues: 0 })).spec.limited, {
    nominalConcurrencyShares: 30,
    lendablePercent: 0,
    limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
  })
  deepEqual(objectFrom(priorityLevelConfiguration, { spec: { type: 'Exempt', exempt: {} } }).spec.exempt, {
    nominalConcurrencyShares: 0,
    lendablePercent: 0,
  })
})

test('the cells of flow control', () => {
  deepEqual(cellsOf(flowSchema, { spec: level }), ['x', 'global-default', 1000, '<none>', '60s', '?'])
  const status = { conditions: [{ type: 'Dangling', status: 'False' }] }
  const distinguisherMethod = { type: 'ByUser' }
  deepEqual(cellsOf(flowSchema, { spec: { ...level, distinguisherMethod }, status }).slice(3), [
    'ByUser',
    '60s',
    'False',
  ])
  deepEqual(cellsOf(priorityLevelConfiguration, queued({})), ['x', 'Limited', 30, 64, 8, 50, '60s'])
  deepEqual(cellsOf(priorityLevelConfiguration, { spec: { type: 'Exempt' } }), [
    'x',
    'Exempt',
    '<none>',
    '<none>',
    '<none>',
    '<none>',
    '60s',
  ])
})

test('the levels and schemas of a new cluster are accepted', () => {
  const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))
  const everything = { resourceRules: [resourceRule], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }
  const schemas: Record<string, object> = {
    'catch-all': {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
    },
    exempt: {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: groups('system:masters'), ...everything }],
    },
    'kube-system-service-accounts': {
      priorityLevelConfiguration: { name: 'workload-high' },
      matchingPrecedence: 900,
      distinguisherMethod: { type: 'ByNamespace' },
      rules: [
        {
          subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } }],
          ...everything,
        },
      ],
    },
  }
  for (const [name, spec] of Object.entries(schemas)) deepEqual(errorsOf(flowSchema, { metadata: { name }, spec }), [])
  const levels: Record<string, object> = {
    'catch-all': {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
    },
    exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
    'workload-low': {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 100,
        limitResponse: { type: 'Queue', queuing: { queues: 128, handSize: 6, queueLengthLimit: 50 } },
        lendablePercent: 90,
      },
    },
  }
  for (const [name, spec] of Object.entries(levels))
    deepEqual(errorsOf(priorityLevelConfiguration, { metadata: { name }, spec }), [])
})
