// Tables for updates of pods, and for their annotations.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../../../schema/validation/field-error.ts'
import { pod } from './pod.ts'
import { container, made, withSpec } from './pod-rules.harness.ts'

const before = withSpec({
  activeDeadlineSeconds: 5,
  tolerations: [{ key: 'a', operator: 'Exists' }],
  schedulingGates: [{ name: 'g' }],
  nodeSelector: { a: 'b' },
})
const updates: [why: string, change: object, errors: (string | RegExp)[]][] = [
  ['another image', { containers: [{ ...container, image: 'j' }] }, []],
  ['a shorter deadline', { activeDeadlineSeconds: 4 }, []],
  [
    'a longer deadline',
    { activeDeadlineSeconds: 6 },
    ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  ],
  [
    'an additional toleration',
    {
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists' },
      ],
    },
    [],
  ],
  [
    'a removed toleration',
    { tolerations: [] },
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
  ['a removed gate', { schedulingGates: [] }, []],
  [
    'a new gate',
    { schedulingGates: [{ name: 'g' }, { name: 'h' }] },
    [`spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'`],
  ],
  ['a narrower selector of a gated pod', { nodeSelector: { a: 'b', c: 'd' } }, []],
  [
    'another selector of a gated pod',
    { nodeSelector: { c: 'd' } },
    [
      'spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  ],
  [
    'a second container',
    { containers: [container, { ...container, name: 'd' }] },
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
]
for (const [why, change, expected] of updates)
  test(`an update of a Pod with ${why}`, () => {
    const errors = pod.validateUpdate(made(pod, { ...before, ...change }), made(pod, before))
    deepEqual(errors.map(fieldErrorText), expected)
  })

const mirror = 'kubernetes.io/config.mirror'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/c'
const annotated: [why: string, annotations: Record<string, string>, spec: object, errors: string[]][] = [
  [
    'a mirror annotation without a node',
    { [mirror]: 'h' },
    {},
    [`metadata.annotations[${mirror}]: Invalid value: "h": must set spec.nodeName if mirror pod annotation is set`],
  ],
  ['a mirror annotation and a node', { [mirror]: 'h' }, { nodeName: 'n' }, []],
  ['AppArmor profiles', { [appArmor]: 'localhost/p' }, {}, []],
  [
    'an AppArmor profile that does not exist, of a container that does not exist',
    { [`${appArmor}2`]: 'off' },
    {},
    [
      `metadata.annotations[${appArmor}2]: Invalid value: "c2": container not found`,
      `metadata.annotations[${appArmor}2]: Invalid value: "off": invalid AppArmor profile name: "off"`,
    ],
  ],
]
for (const [why, annotations, spec, expected] of annotated)
  test(`the annotations of a Pod: ${why}`, () =>
    deepEqual(pod.validate(made(pod, withSpec(spec), annotations)).map(fieldErrorText), expected))

const annotationUpdates: [why: string, now: Record<string, string>, old: Record<string, string>, error?: string][] = [
  ['another annotation', { a: 'b' }, { c: 'd' }],
  ['the same mirror annotation', { [mirror]: 'h' }, { [mirror]: 'h' }],
  ['a new mirror annotation', { [mirror]: 'h' }, {}, `${mirror}]: Forbidden: may not add mirror pod annotation`],
  [
    'a changed mirror annotation',
    { [mirror]: 'i' },
    { [mirror]: 'h' },
    `${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
  ],
  [
    'a removed mirror annotation',
    {},
    { [mirror]: 'h' },
    `${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
  ],
  [
    'a new AppArmor annotation',
    { [appArmor]: 'unconfined' },
    {},
    `${appArmor}]: Forbidden: may not add AppArmor annotations`,
  ],
  [
    'a changed AppArmor annotation',
    { [appArmor]: 'unconfined' },
    { [appArmor]: 'runtime/default' },
    `${appArmor}]: Forbidden: may not remove or update AppArmor annotations`,
  ],
]
for (const [why, now, old, error] of annotationUpdates)
  test(`an update of a Pod, or of its status, with ${why}`, () => {
    const object = made(pod, withSpec({ nodeName: 'n' }), now)
    const oldPod = made(pod, withSpec({ nodeName: 'n' }), old)
    const expected = error === undefined ? [] : [`metadata.annotations[${error}`]
    deepEqual(pod.validateUpdate(object, oldPod).map(fieldErrorText), expected)
    deepEqual(pod.validateStatusUpdate?.(object, oldPod).map(fieldErrorText), expected)
  })
