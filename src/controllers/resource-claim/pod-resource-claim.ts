// Generates a ResourceClaim for each claim template that a pod names, and records it in the pod's status, where
// scheduler and kubelet read it. The rest of the lifecycle of a claim is in resource-claim.ts.
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey } from '../../api/meta/object.ts'
import { resourceClaimTemplate, type ResourceClaimTemplate } from '../../api/resource/v1/resource-claim-template.ts'
import { resourceClaim, type ResourceClaim } from '../../api/resource/v1/resource-claim.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { defineController, type Change, type Plan, type PlanView } from '../runtime/controller.ts'
import { isOver } from './resource-claim.ts'

/** The name of the pod's claim for which the ResourceClaim was generated. */
const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name'
/** Leaves space for a hyphen and five characters within 63. */
const nameBaseMax = 57

type PodClaim = NonNullable<PodSpec['resourceClaims']>[number]
type Recorded = NonNullable<Pod['status']['resourceClaimStatuses']>[number]

/** What to do for one claim of a pod. */
type Step =
  | { readonly kind: 'record'; readonly claim: string }
  | { readonly kind: 'make'; readonly from: ResourceClaimTemplate }
  | { readonly kind: 'fail'; readonly why: string }

export const podResourceClaimController = defineController<Pod>({
  name: 'pod-resource-claim',
  account: 'resource-claim-controller',
  component: 'resource_claim',
  reconciles: pod,
  owns: [resourceClaim],
  watches: [
    {
      kind: resourceClaimTemplate,
      enqueues({ now }, { within }) {
        if (now === undefined) return []
        return within(pod, namespaceOf(now))
          .filter((user) => fromTemplates(user).some((claim) => claim.resourceClaimTemplateName === now.metadata.name))
          .map(keyOf)
      },
    },
  ],
  concerns: (object) => fromTemplates(object).length > 0,
  plan(object, view) {
    if (isBeingDeleted(object) || isOver(object)) return { changes: [] }
    return fromTemplates(object).reduce<Plan>(
      (plan, claim) => withStep(plan, object, claim, stepFor(object, claim, view)),
      {
        changes: [],
      },
    )
  },
})

const fromTemplates = ({ spec: { resourceClaims = none } }: Pod): readonly PodClaim[] =>
  resourceClaims === none ? none : resourceClaims.filter((claim) => claim.resourceClaimTemplateName !== undefined)
const none: readonly PodClaim[] = []

/** Undefined where the pod's status names an existing claim that the pod owns, or states that none is needed. */
function stepFor(object: Pod, { name, resourceClaimTemplateName = '' }: PodClaim, view: PlanView): Step | undefined {
  const recorded = object.status.resourceClaimStatuses?.find((status) => status.name === name)
  if (recorded !== undefined) {
    if (recorded.resourceClaimName === undefined) return undefined
    const known = view.find(resourceClaim, objectKey(namespaceOf(object), recorded.resourceClaimName))
    if (known !== undefined)
      return controllerOf(known)?.uid === object.metadata.uid
        ? undefined
        : { kind: 'fail', why: notOurs(known, object) }
  }
  const made = view.owned(resourceClaim).find(({ metadata }) => metadata.annotations?.[podClaimAnnotation] === name)
  if (made !== undefined) return { kind: 'record', claim: made.metadata.name }
  const from = view.find(resourceClaimTemplate, objectKey(namespaceOf(object), resourceClaimTemplateName))
  if (from !== undefined) return { kind: 'make', from }
  const template = JSON.stringify(resourceClaimTemplateName)
  return {
    kind: 'fail',
    why: `resource claim template ${template}: resourceclaimtemplate.resource.k8s.io ${template} not found`,
  }
}

function withStep(plan: Plan, object: Pod, { name }: PodClaim, step: Step | undefined): Plan {
  switch (step?.kind) {
    case undefined:
      return plan
    case 'record': {
      const status = (plan.status ?? object.status) as Pod['status']
      const others = (status.resourceClaimStatuses ?? []).filter((each) => each.name !== name)
      const recorded: Recorded = { name, resourceClaimName: step.claim }
      return { ...plan, status: { ...status, resourceClaimStatuses: [...others, recorded] } }
    }
    case 'make':
      return { ...plan, changes: [...plan.changes, claimFrom(step.from, object, name)] }
    case 'fail':
      return { ...plan, events: [...(plan.events ?? []), failed(name, step.why)] }
    default:
      return step satisfies never
  }
}

const claimFrom = ({ spec: { metadata, spec } }: ResourceClaimTemplate, object: Pod, name: string): Change => ({
  kind: 'create',
  of: resourceClaim,
  object: {
    metadata: {
      generateName: nameBase(object.metadata.name, name),
      annotations: { ...metadata.annotations, [podClaimAnnotation]: name },
      ...(metadata.labels && { labels: metadata.labels }),
    },
    spec,
  },
  failureEvent: ({ message }) => failed(name, `create ResourceClaim : ${message}`),
})

/** If both together are too long, each is shortened in proportion to its length. */
function nameBase(podName: string, claimName: string): string {
  const whole = `${podName}-${claimName}-`
  if (whole.length <= nameBaseMax) return whole
  const cut = (text: string): string => text.slice(0, Math.floor((text.length * nameBaseMax) / whole.length))
  return `${cut(podName)}-${cut(claimName)}`
}

const failed = (name: string, why: string): EventNote => ({
  type: 'Warning',
  reason: 'FailedResourceClaimCreation',
  message: `PodResourceClaim ${name}: ${why}`,
})

const notOurs = (claim: ResourceClaim, owner: Pod): string =>
  `ResourceClaim ${keyOf(claim)} was not created for pod ${keyOf(owner)} (pod is not owner)`
