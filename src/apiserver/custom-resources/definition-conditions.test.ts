import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { AcceptedNames } from './accepted-names.ts'
import { withNames } from './definition-conditions.ts'

const nowMs = Date.UTC(2030, 0, 1)

function definition(
  name: string,
  names: object,
  group = 'example.com',
  annotations = {},
  conversion?: object,
): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.${group}`, annotations },
    spec: { group, names: { plural: name, ...names }, versions: [], conversion },
    status: {},
  } as unknown as CustomResourceDefinition
}

const widgets = definition('widgets', {
  kind: 'Widget',
  listKind: 'WidgetList',
  singular: 'widget',
  shortNames: ['wd'],
})

function accepted(requested: CustomResourceDefinition, ...others: readonly CustomResourceDefinition[]) {
  const names = new AcceptedNames()
  for (const other of others) names.add(withNames(other, names.usedByOthers(other), nowMs))
  return withNames(requested, names.usedByOthers(requested), nowMs)
}

const conditionsOf = ({ status }: CustomResourceDefinition): string[] =>
  (status.conditions ?? []).map(({ type, status: value, reason, message }) => `${type} ${value} ${reason}: ${message}`)

const established = 'Established True InitialNamesAccepted: the initial names have been accepted'
const noConflicts = 'NamesAccepted True NoConflicts: no conflicts found'
const notAccepted = 'Established False NotAccepted: not all names are accepted'

const cases: readonly (readonly [why: string, requested: CustomResourceDefinition, conditions: readonly string[]])[] = [
  ['new names', definition('gadgets', { kind: 'Gadget', listKind: 'GadgetList' }), [noConflicts, established]],
  [
    'a conversion webhook with an invalid bundle',
    definition('gadgets', { kind: 'Gadget' }, undefined, {}, { webhook: { clientConfig: { caBundle: btoa('x') } } }),
    [noConflicts, 'Established False InvalidCABundle: The conversion webhook CABundle is invalid'],
  ],
  [
    'the kind of another definition',
    definition('gadgets', { kind: 'Widget', listKind: 'GadgetList' }),
    ['NamesAccepted False KindConflict: "Widget" is already in use', notAccepted],
  ],
  [
    'a list kind that is a kind',
    definition('gadgets', { kind: 'Gadget', listKind: 'Widget' }),
    ['NamesAccepted False ListKindConflict: "Widget" is already in use', notAccepted],
  ],
  [
    'a plural that is a short name: the last conflict is reported',
    definition('wd', { kind: 'Widget', singular: 'gadget' }),
    ['NamesAccepted False KindConflict: "Widget" is already in use', notAccepted],
  ],
  [
    'two short names',
    definition('gadgets', { kind: 'Gadget', shortNames: ['wd', 'widget', 'g'] }),
    ['NamesAccepted False ShortNamesConflict: ["wd" is already in use, "widget" is already in use]', notAccepted],
  ],
  [
    'the same names in another group',
    definition('widgets', { kind: 'Widget' }, 'other.com'),
    [noConflicts, established],
  ],
  [
    'an approved protected group',
    definition('gadgets', { kind: 'Gadget' }, 'x.k8s.io', { 'api-approved.kubernetes.io': 'https://example.com/1' }),
    [
      'KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation: approved in https://example.com/1',
      noConflicts,
      established,
    ],
  ],
  [
    'an unapproved protected group',
    definition('gadgets', { kind: 'Gadget' }, 'x.k8s.io', { 'api-approved.kubernetes.io': 'unapproved, a test' }),
    [
      'KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation: not approved: "unapproved, a test"',
      noConflicts,
      established,
    ],
  ],
]
for (const [why, requested, conditions] of cases)
  test(`conditions of a definition with ${why}`, () =>
    deepEqual(conditionsOf(accepted(requested, widgets)), conditions))

test('an established definition whose new names conflict keeps the names that it has', () => {
  const names = new AcceptedNames()
  const first = withNames(widgets, names.usedByOthers(widgets), nowMs)
  names.add(first)
  const gadgets = definition('gadgets', { kind: 'Gadget', listKind: 'GadgetList' })
  const second = withNames(gadgets, names.usedByOthers(gadgets), nowMs)
  names.add(second)
  const renamed = { ...second, spec: { ...second.spec, names: { plural: 'gadgets', kind: 'Widget' } } }
  const result = withNames(renamed, names.usedByOthers(second), nowMs)
  equal(result.status.acceptedNames?.kind, 'Gadget')
  deepEqual(conditionsOf(result), ['NamesAccepted False KindConflict: "Widget" is already in use', established])
})

test('a definition whose conditions are up to date is the same object', () => {
  const once = accepted(widgets)
  equal(withNames(once, new AcceptedNames().usedByOthers(once), nowMs + 5_000), once)
})

test('names that were removed can be given again', () => {
  const names = new AcceptedNames()
  const first = withNames(widgets, names.usedByOthers(widgets), nowMs)
  names.add(first)
  const second = definition('gadgets', { kind: 'Widget' })
  equal(names.usedByOthers(second).hasKind('Widget'), true)
  names.delete(first)
  equal(names.usedByOthers(second).hasKind('Widget'), false)
})
