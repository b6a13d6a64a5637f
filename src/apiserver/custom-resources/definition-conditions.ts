// The conditions of a CustomResourceDefinition: whether its names are accepted, whether it is served, whether its use of a
// protected group is approved, and how far its deletion is.
import { rfc3339 } from '../../base/time/clock.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type {
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../../api/apiextensions/v1/custom-resource-definition-spec.ts'
import { hasUsableBundle } from '../../api/apiextensions/v1/conversion-rules.ts'
import { approvalOf } from '../../api/apiextensions/v1/definition-rules.ts'
import { equalValues } from '../../schema/json/json-value.ts'

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

type Condition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime' | 'observedGeneration'>

/** Which names of a group other definitions have. */
export interface NamesInUse {
  hasResource(name: string): boolean
  hasKind(name: string): boolean
}

/** The definition with its names and conditions brought up to date; the same object where nothing changes. */
export function withNames(
  definition: CustomResourceDefinition,
  inUse: NamesInUse,
  nowMs: number,
): CustomResourceDefinition {
  const { names, condition } = acceptNames(definition.spec.names, definition.status.acceptedNames, inUse)
  const named = isSameNames(names, definition.status.acceptedNames)
    ? definition
    : { ...definition, status: { ...definition.status, acceptedNames: names } }
  const approval = approvalCondition(definition)
  const approved = approval === undefined ? named : withCondition(named, approval, nowMs)
  const accepted = withCondition(approved, condition, nowMs)
  const isEstablished = conditionOf(accepted, 'Established')?.status === 'True'
  if (isEstablished) return accepted
  if (condition.status !== 'True') return withCondition(accepted, notAccepted, nowMs)
  return withCondition(accepted, hasUsableBundle(definition.spec) ? established : invalidBundle, nowMs)
}

const established: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}
const notAccepted: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
}
const invalidBundle: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
}

interface Acceptance {
  readonly names: CustomResourceDefinitionNames
  readonly condition: Condition
}

/** Each name is accepted on its own; the condition reports the last conflict. */
function acceptNames(
  requested: CustomResourceDefinitionNames,
  accepted: Partial<CustomResourceDefinitionNames> | undefined,
  inUse: NamesInUse,
): Acceptance {
  const conflicts: { readonly reason: string; readonly message: string }[] = []
  const accept = (
    name: 'plural' | 'singular' | 'kind' | 'listKind',
    reason: string,
    isTaken: (name: string) => boolean,
  ): string => {
    const wanted = requested[name] ?? ''
    const before = accepted?.[name] ?? ''
    if (wanted === before || !isTaken(wanted)) return wanted
    conflicts.push({ reason, message: alreadyInUse(wanted) })
    return before
  }
  const plural = accept('plural', 'PluralConflict', inUse.hasResource)
  const singular = accept('singular', 'SingularConflict', inUse.hasResource)
  const taken = (requested.shortNames ?? []).filter(
    (name) => !accepted?.shortNames?.includes(name) && inUse.hasResource(name),
  )
  if (taken.length > 0) conflicts.push({ reason: 'ShortNamesConflict', message: aggregated(taken.map(alreadyInUse)) })
  const shortNames = taken.length > 0 ? accepted?.shortNames : requested.shortNames
  const kind = accept('kind', 'KindConflict', inUse.hasKind)
  const listKind = accept('listKind', 'ListKindConflict', inUse.hasKind)
  const { categories } = requested
  const last = conflicts.at(-1)
  return {
    names: {
      plural,
      ...(singular === '' ? {} : { singular }),
      ...(shortNames === undefined ? {} : { shortNames }),
      kind,
      ...(listKind === '' ? {} : { listKind }),
      ...(categories === undefined ? {} : { categories }),
    },
    condition:
      last === undefined
        ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { type: 'NamesAccepted', status: 'False', ...last },
  }
}

const alreadyInUse = (name: string): string => `${JSON.stringify(name)} is already in use`

/** Several errors as one, in Go's form. */
const aggregated = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`

const isSameNames = (a: CustomResourceDefinitionNames, b: Partial<CustomResourceDefinitionNames> | undefined) =>
  equalValues(a, b)

function approvalCondition({ spec, metadata }: CustomResourceDefinition): Condition | undefined {
  const approval = approvalOf(spec.group, metadata.annotations ?? {})
  const type = 'KubernetesAPIApprovalPolicyConformant'
  switch (approval.kind) {
    case 'approved':
      return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${approval.url}` }
    case 'unapproved':
      return {
        type,
        status: 'False',
        reason: 'UnapprovedAnnotation',
        message: `not approved: ${JSON.stringify(approval.text)}`,
      }
    default:
      return undefined
  }
}

const terminating = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
})

export const deletionPending = terminating(
  'True',
  'InstanceDeletionPending',
  'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
)
export const deletionInProgress = terminating(
  'True',
  'InstanceDeletionInProgress',
  'CustomResource deletion is in progress',
)
export const deletionCompleted = terminating('False', 'InstanceDeletionCompleted', 'removed all instances')
export const deletionFailed = (error: string): Condition =>
  terminating('True', 'InstanceDeletionFailed', `could not delete all instances: ${error}`)

export const conditionOf = (
  { status }: CustomResourceDefinition,
  type: string,
): CustomResourceDefinitionCondition | undefined => (status.conditions ?? []).find((each) => each.type === type)

/** The condition in its place among the others. Its time changes with its status only. */
export function withCondition(
  definition: CustomResourceDefinition,
  condition: Condition,
  nowMs: number,
): CustomResourceDefinition {
  const before = conditionOf(definition, condition.type)
  const { status, reason, message } = condition
  if (before?.status === status && before.reason === reason && before.message === message) return definition
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(nowMs)
  const next: CustomResourceDefinitionCondition = { ...condition, lastTransitionTime: lastTransitionTime ?? null }
  const conditions = definition.status.conditions ?? []
  return {
    ...definition,
    status: {
      ...definition.status,
      conditions:
        before === undefined ? [...conditions, next] : conditions.map((each) => (each === before ? next : each)),
    },
  }
}
