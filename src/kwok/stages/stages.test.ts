// What a Stage does with an object: each row has a stage, an object, and the changes as data, with times and addresses as `<Now>`.
import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { seededRandom } from '../../base/random/random.ts'
import { defaultStages } from '../default-stages.ts'
import type { JqValue } from '../jq/jq-query.ts'
import { nodeConditions } from './node-conditions.ts'
import { readStage } from './read-stage.ts'
import { stageChanges } from './stage-changes.ts'
import { chooseStage, delayMsOf, stageMatches, weightOf, type Stage, type StageFunctions } from './stage.ts'

const parseYaml = (text: string) => Promise.resolve(parse(text, { version: '1.1' }) as unknown)
const functions: StageFunctions = {
  now: () => '<Now>',
  startTime: () => '<StartTime>',
  version: () => '<Version>',
  nodeIp: () => '<NodeIP>',
  nodeIpWith: (node) => `<NodeIP of ${node}>`,
  podIpWith: (...given) => `<PodIP of ${given.join()}>`,
}

const stageOf = (spec: string, name = 'tested'): Stage => {
  const given = parse(`apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: { name: ${name} }\nspec:\n${spec}`)
  const stage = readStage(given as Parameters<typeof readStage>[0], parseYaml)
  ok(stage !== undefined)
  return stage
}
const objectOf = (text: string) => parse(text) as JqValue
const changed = (stage: Stage, object: JqValue) => stageChanges(stage, object, functions)

const running = objectOf(`
metadata: { name: web, namespace: shop, uid: u1, finalizers: [a, b] }
spec: { nodeName: n1, initContainers: [{ name: i, image: x }], containers: [{ name: c, image: 'y:1' }, { name: d }] }
status: { phase: Running }`)

const statusPatch = (status: object, patchType = 'merge') => ({
  kind: 'patch',
  patchType,
  subresource: 'status',
  body: { status },
})
const finalizersPatch = (...operations: object[]) => ({
  kind: 'patch',
  patchType: 'json',
  subresource: '',
  body: operations,
})
const path = '/metadata/finalizers'

const golden: readonly (readonly [name: string, spec: string, object: JqValue, changes: readonly unknown[]])[] = [
  [
    'a template makes a status of lists, conditions and addresses',
    `
  resourceRef: { apiGroup: v1, kind: Pod }
  selector: {}
  next:
    statusTemplate: |
      {{ $at := Now }}
      conditions:
      {{ range list "Initialized" "Ready" }}
      - { type: {{ . | Quote }}, status: "True", lastTransitionTime: {{ $at | Quote }} }
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ or .image "none" | Quote }}
        ready: true
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) .metadata.name .metadata.namespace | Quote }}`,
    running,
    [
      statusPatch({
        conditions: [
          { type: 'Initialized', status: 'True', lastTransitionTime: '<Now>' },
          { type: 'Ready', status: 'True', lastTransitionTime: '<Now>' },
        ],
        containerStatuses: [
          { name: 'c', image: 'y:1', ready: true },
          { name: 'd', image: 'none', ready: true },
        ],
        hostIP: '<NodeIP of n1>',
        podIP: '<PodIP of n1,false,u1,web,shop>',
      }),
    ],
  ],
  [
    'a node gets conditions and keeps its resources',
    `
  resourceRef: { apiGroup: v1, kind: Node }
  selector: {}
  next:
    statusTemplate: |
      conditions:
      {{ range NodeConditions }}
      - type: {{ .type }}
        message: {{ .message | Quote }}
        lastHeartbeatTime: {{ Now | Quote }}
      {{ end }}
      capacity:
      {{ with .status.capacity }}
      {{ YAML . 1 }}
      {{ else }}
        cpu: 1k
      {{ end }}
      versions: [{{ Version | Quote }}, {{ StartTime | Quote }}, {{ NodeIP | Quote }}]
      {{ with NodePort }}port: {{ . }}{{ end }}{{ with NodeName }}name: {{ . }}{{ end }}`,
    objectOf('{ metadata: { name: n1 }, status: { capacity: { cpu: "4", memory: 8Gi } } }'),
    [
      statusPatch({
        conditions: nodeConditions.map(({ type, message }) => ({ type, message, lastHeartbeatTime: '<Now>' })),
        capacity: { cpu: '4', memory: '8Gi' },
        versions: ['<Version>', '<StartTime>', '<NodeIP>'],
      }),
    ],
  ],
  [
    'finalizers are removed before an object is deleted, and nothing follows',
    `
  resourceRef: { kind: Pod }
  selector: {}
  next: { event: { type: Warning, reason: Killing, message: bye }, finalizers: { empty: true }, delete: true, statusTemplate: 'a: 1' }`,
    running,
    [
      { kind: 'event', type: 'Warning', reason: 'Killing', message: 'bye' },
      finalizersPatch({ op: 'remove', path }),
      { kind: 'delete' },
    ],
  ],
  [
    'finalizers are added and removed by name',
    `
  resourceRef: { kind: Pod }
  selector: {}
  next: { finalizers: { add: [{ value: b }, { value: c }], remove: [{ value: a }] } }`,
    running,
    [finalizersPatch({ op: 'add', path, value: ['b', 'c'] })],
  ],
  [
    'finalizers that are as they should be are not patched',
    `
  resourceRef: { kind: Pod }
  selector: {}
  next: { event: {}, finalizers: { add: [{ value: b }], remove: [{ value: z }] } }`,
    running,
    [{ kind: 'event', type: 'Normal', reason: '', message: '' }],
  ],
  [
    'patches have types by kind, and roots',
    `
  resourceRef: { kind: Pod }
  selector: {}
  next:
    patches:
    - { root: metadata, template: 'labels: { a: {{ .metadata.name }} }' }
    - { root: status, subresource: status, type: json, template: '[{ op: add, path: /x, value: 1 }]' }
    - { type: merge, template: 'spec: { replicas: 2 }' }`,
    running,
    [
      { kind: 'patch', patchType: 'strategic', subresource: '', body: { metadata: { labels: { a: 'web' } } } },
      { kind: 'patch', patchType: 'json', subresource: 'status', body: [{ op: 'add', path: '/status/x', value: 1 }] },
      { kind: 'patch', patchType: 'merge', subresource: '', body: { spec: { replicas: 2 } } },
    ],
  ],
  [
    'the later form has steps',
    `
  resourceRef: { apiGroup: example.com/v1, kind: Widget }
  selector: {}
  steps:
  - event: { reason: Ready }
  - patch: { subresource: status, root: status, template: 'ready: true' }
  - { delete: true, patch: { template: 'never: 1' } }`,
    objectOf('metadata: { name: w }'),
    [{ kind: 'event', type: 'Normal', reason: 'Ready', message: '' }, statusPatch({ ready: true }), { kind: 'delete' }],
  ],
]
for (const [name, spec, object, changes] of golden)
  test(name, async () => deepEqual(await changed(stageOf(spec), object), changes))

const pod = (fields: string) => objectOf(`{ apiVersion: v1, kind: Pod, ${fields} }`)
const lives: readonly (readonly [name: string, object: JqValue, stage: string | undefined])[] = [
  ['a new pod', pod('metadata: { name: p }, status: {}'), 'pod-ready'],
  ['a running pod', pod('metadata: { name: p }, status: { phase: Running, podIP: 10.0.0.2 }'), undefined],
  [
    'the running pod of a Job',
    pod('metadata: { name: p, ownerReferences: [{ kind: Job }] }, status: { phase: Running, podIP: 10.0.0.2 }'),
    'pod-complete',
  ],
  [
    'a deleted pod',
    pod('metadata: { name: p, deletionTimestamp: 2030-01-01T00:00:00Z }, status: { phase: Running }'),
    'pod-delete',
  ],
]
for (const [name, object, expected] of lives)
  test(`${name} has the stage ${expected ?? 'none'} by default`, () => {
    const stages = defaultStages.filter(({ kind }) => kind === 'Pod')
    equal(chooseStage(stages, object, seededRandom(1))?.name, expected)
  })

test('by default a node is ready, and then reports every five to six minutes', async () => {
  const stages = defaultStages.filter(({ kind }) => kind === 'Node')
  const fresh = objectOf('{ metadata: { name: n1 }, status: { nodeInfo: { osImage: mine, machineID: "" } } }')
  const first = chooseStage(stages, fresh, seededRandom(1))
  ok(first?.name === 'node-ready')
  const [change] = await changed(first, fresh)
  ok(change?.kind === 'patch' && change.patchType === 'strategic')
  const { status } = change.body as { status: Record<string, JqValue> }
  deepEqual(status['addresses'], [
    { type: 'InternalIP', address: '<NodeIP>' },
    { type: 'Hostname', address: 'n1' },
  ])
  deepEqual(status['allocatable'], { cpu: '1k', memory: '1Ti', pods: '1M' })
  equal((status['nodeInfo'] as Record<string, string>)['osImage'], 'mine')
  equal((status['nodeInfo'] as Record<string, string>)['kubeletVersion'], 'kwok-<Version>')
  const later = chooseStage(stages, { metadata: { name: 'n1' }, status: status as JqValue }, seededRandom(1))
  ok(later?.name === 'node-heartbeat')
  const delay = delayMsOf(later, {}, 0, seededRandom(1))
  ok(delay >= 300_000 && delay < 360_000)
  const [beat] = await changed(later, fresh)
  ok(beat?.kind === 'patch')
})

test('by default containers of a pod run, its initial ones have ended, and sidecars run', async () => {
  const [ready] = defaultStages.filter(({ name }) => name === 'pod-ready')
  ok(ready !== undefined)
  const object = objectOf(`
metadata: { name: p, namespace: d, uid: u }
spec:
  nodeName: n1
  readinessGates: [{ conditionType: example.com/gate }]
  initContainers: [{ name: i, image: x }, { name: s, image: x, restartPolicy: Always }]
  containers: [{ name: c, image: y }]`)
  const [change] = await changed(ready, object)
  ok(change?.kind === 'patch')
  const { status } = change.body as unknown as {
    status: Record<string, readonly { readonly name: string; readonly type: string; readonly state: object }[]>
  }
  const states = (field: string) => status[field]?.map(({ name, state }) => [name, Object.keys(state)[0]])
  deepEqual(states('initContainerStatuses'), [
    ['i', 'terminated'],
    ['s', 'running'],
  ])
  deepEqual(states('containerStatuses'), [['c', 'running']])
  deepEqual(
    status['conditions']?.map(({ type }) => type),
    ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'example.com/gate'],
  )
  equal(status['podIP'] as unknown, '<PodIP of n1,false,u,p,d>')
  const [complete] = defaultStages.filter(({ name }) => name === 'pod-complete')
  ok(complete !== undefined)
  const [ended] = await changed(complete, { ...(object as object), status: { startTime: '<Start>' } })
  const body = (ended as { readonly body: JqValue } | undefined)?.body as { status: { phase: string } }
  equal(body.status.phase, 'Succeeded')
})

const selecting = (selector: string) =>
  stageOf(`
  resourceRef: { kind: Pod }
  selector: ${selector}`)
const matching: readonly (readonly [selector: string, object: string, isMatch: boolean])[] = [
  ['{ matchLabels: { a: b } }', 'metadata: { labels: { a: b } }', true],
  ['{ matchLabels: { a: b } }', 'metadata: { labels: { a: c } }', false],
  ['{ matchAnnotations: { a: b } }', 'metadata: {}', false],
  ['{ matchAnnotations: { a: b } }', 'metadata: { annotations: { a: b } }', true],
  ['{ matchExpressions: [{ key: .a, operator: In, values: ["1", "true"] }] }', 'a: 1', true],
  ['{ matchExpressions: [{ key: .a, operator: In, values: ["1", "true"] }] }', 'a: true', true],
  ['{ matchExpressions: [{ key: .a, operator: In, values: ["1"] }] }', 'a: [1]', false],
  ['{ matchExpressions: [{ key: ".a.[]", operator: In, values: ["1"] }] }', 'a: [2, 1]', true],
  ['{ matchExpressions: [{ key: ".a.[]", operator: In, values: ["1"] }] }', 'b: 1', false],
  ['{ matchExpressions: [{ key: ".a.[]", operator: NotIn, values: ["1"] }] }', 'b: 1', true],
  ['{ matchExpressions: [{ key: .a, operator: Exists }] }', 'a: 0', true],
  ['{ matchExpressions: [{ key: .a, operator: Exists }] }', 'a: null', false],
  ['{ matchExpressions: [{ key: .a, operator: DoesNotExist }] }', 'a: null', true],
  ['{ matchExpressions: [{ jq: { key: .a, operator: In, values: [x] } }] }', 'a: x', true],
  ['{ matchExpressions: [{ key: .a, operator: Exists }, { key: .b, operator: Exists }] }', 'a: 1', false],
]
for (const [selector, object, isMatch] of matching)
  test(`${selector} ${isMatch ? 'matches' : 'does not match'} ${object}`, () =>
    equal(stageMatches(selecting(selector), objectOf(object)), isMatch))

const nowMs = Date.parse('2030-01-01T00:00:00Z')
const delays: readonly (readonly [delay: string, object: string, least: number, most: number])[] = [
  ['{ durationMilliseconds: 1000 }', 'a: 1', 1_000, 1_000],
  ['{ durationMilliseconds: 1000, jitterDurationMilliseconds: 5000 }', 'a: 1', 1_000, 5_000],
  ['{ durationMilliseconds: 5000, jitterDurationMilliseconds: 1000 }', 'a: 1', 1_000, 1_000],
  ['{ durationMilliseconds: 1000, durationFrom: { expressionFrom: .a } }', 'a: 3s', 3_000, 3_000],
  ['{ durationMilliseconds: 1000, durationFrom: { jq: { expression: .a } } }', 'b: 3s', 1_000, 1_000],
  ['{ durationFrom: { expressionFrom: .a } }', 'a: "2030-01-01T00:01:00Z"', 60_000, 60_000],
  ['{ durationMilliseconds: 9, durationFrom: { expressionFrom: .a } }', 'a: soon', 0, 0],
  ['{ durationMilliseconds: 9, durationFrom: { expressionFrom: .a } }', 'a: [1]', 0, 0],
  ['{ durationMilliseconds: 9, jitterDurationFrom: { expressionFrom: .a } }', 'a: 1h', 9, 3_600_000],
]
for (const [delay, object, least, most] of delays)
  test(`the delay ${delay} of ${object} is ${least} to ${most} ms`, () => {
    const stage = stageOf(`
  resourceRef: { kind: Pod }
  selector: {}
  delay: ${delay}`)
    const random = seededRandom(7)
    const measured = Array.from({ length: 100 }, () => delayMsOf(stage, objectOf(object), nowMs, random))
    ok(Math.min(...measured) >= least && Math.max(...measured) <= most, String(measured.slice(0, 3)))
    ok(least === most || Math.max(...measured) - Math.min(...measured) > (most - least) / 2)
  })

const weighing: readonly (readonly [weights: readonly string[], shares: readonly [number, number]])[] = [
  [
    ['weight: 0', 'weight: 0'],
    [0.4, 0.6],
  ],
  [
    ['weight: 3', 'weight: 1'],
    [0.65, 0.85],
  ],
  [
    ['weight: 1', 'weight: 0'],
    [1, 1],
  ],
  [
    ['weightFrom: { expressionFrom: .none }', 'weight: 1'],
    [0, 0],
  ],
  [
    ['{ weight: 1, weightFrom: { expressionFrom: .a } }', 'weight: 1'],
    [0.8, 0.98],
  ],
  [
    ['weightFrom: { expressionFrom: .text }', 'weight: 0'],
    [0, 0],
  ],
  [
    ['weightFrom: { expressionFrom: .text }', 'weightFrom: { expressionFrom: .text }'],
    [0.4, 0.6],
  ],
]
for (const [[first = '', second = ''], [least, most]] of weighing)
  test(`of the weights ${first} and ${second} the first has a share of ${least} to ${most}`, () => {
    const stages = [first, second].map((weight, index) =>
      stageOf(
        `
  resourceRef: { kind: Pod }
  selector: {}
  ${weight.startsWith('{') ? weight.slice(1, -1).trim().replace(', ', '\n  ') : weight}`,
        `s${index}`,
      ),
    )
    const object = objectOf('{ a: "9", text: many }')
    const random = seededRandom(3)
    const chosen = Array.from({ length: 400 }, () => chooseStage(stages, object, random)?.name)
    const share = chosen.filter((name) => name === 's0').length / chosen.length
    ok(share >= least && share <= most, String(share))
  })

test('a weight that an expression does not find is that of the stage', () => {
  const stage = stageOf(`
  resourceRef: { kind: Pod }
  selector: {}
  weight: 4
  weightFrom: { expressionFrom: .none }`)
  equal(weightOf(stage, {}), 4)
})

const invalid: readonly (readonly [spec: string, message: RegExp])[] = [
  ['{}', /spec\.resourceRef\.kind: Required value/],
  [
    '{ resourceRef: { kind: Pod }, selector: { matchExpressions: [{ key: ".a", operator: In }] } }',
    /must not be empty/,
  ],
  [
    '{ resourceRef: { kind: Pod }, selector: { matchExpressions: [{ key: .a, operator: Exists, values: [b] }] } }',
    /spec\.selector\.matchExpressions\[0\]: values must be empty/,
  ],
  [
    '{ resourceRef: { kind: Pod }, selector: { matchExpressions: [{ cel: { expression: "true" } }] } }',
    /expressions in CEL are not supported/,
  ],
  [
    '{ resourceRef: { kind: Pod }, selector: { matchExpressions: [{ key: "a(", operator: Exists }] } }',
    /unexpected end/,
  ],
  [
    '{ resourceRef: { kind: Pod }, selector: {}, delay: { durationFrom: { expressionFrom: "|" } } }',
    /spec\.delay\.durationFrom/,
  ],
  ['{ resourceRef: { kind: Pod }, selector: {}, next: { statusTemplate: "{{ foo }}" } }', /function "foo" not defined/],
  [
    '{ resourceRef: { kind: Pod }, selector: {}, next: { patches: [{ type: other }] } }',
    /none of json, merge, strategic/,
  ],
  [
    '{ resourceRef: { kind: Pod }, selector: {}, steps: [{ patch: { impersonation: { username: u } } }] }',
    /spec\.steps\[0\]\.patch\.impersonation: is not supported/,
  ],
]
for (const [spec, message] of invalid)
  test(`the stage ${spec} is invalid`, () => {
    const given = { metadata: { name: 'a' }, spec: parse(spec) as never }
    throws(() => readStage(given, parseYaml), message)
  })

test('a stage without a selector matches nothing, and another kind is none', () => {
  const given = { metadata: { name: 'a' }, spec: { resourceRef: { kind: 'Pod' } } }
  equal(readStage(given, parseYaml), undefined)
  throws(() => readStage({ ...given, kind: 'Metric' }, parseYaml), /Metric is not kwok\.x-k8s\.io\/v1alpha1 Stage/)
})

test('a JSON patch must be a list', async () => {
  const stage = stageOf(`
  resourceRef: { kind: Pod }
  selector: {}
  next: { patches: [{ root: status, type: json, template: 'a: 1' }] }`)
  await rejects(changed(stage, {}), /must give a list of operations/)
})
