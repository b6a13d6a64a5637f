// The pod that a template describes, and the events with which controllers tell that they made or removed one.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodTemplateSpec } from '../../api/core/v1/pod-spec/pod-template-spec.ts'
import type { Change } from '../runtime/controller.ts'

/** Pods made or removed by one plan; the rest follows with the next. */
export const podsBurstMax = 500

export interface NewPod {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec: Pod['spec']
}

/** Names longer than this leave no room for the suffix of a generated name. */
const generateNameCharsMax = 58

export function podFromTemplate(ownerName: string, { metadata, spec }: PodTemplateSpec): NewPod {
  const { labels, annotations, finalizers } = metadata
  return {
    metadata: {
      generateName: `${ownerName.slice(0, generateNameCharsMax - 1)}-`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec,
  }
}

export const createPod = (object: NewPod): Change => ({
  kind: 'create',
  of: pod,
  object,
  tell: ({ metadata: { name } }) => ({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` }),
  failureEvent: ({ message }) => ({ type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${message}` }),
})

export const deletePod = (object: Pod): Change => ({
  kind: 'delete',
  of: pod,
  object,
  tell: ({ metadata: { name } }) => ({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` }),
  failureEvent: ({ message }) => ({ type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${message}` }),
})
