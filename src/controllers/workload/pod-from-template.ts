// Pods from a template, and the changes and events with which controllers create and delete them.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodTemplateSpec } from '../../api/core/v1/pod-spec/pod-template-spec.ts'
import type { Change } from '../runtime/controller.ts'

export interface NewPod {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec: Pod['spec']
}

/** A longer prefix would leave no space for the generated suffix. */
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
  event: ({ metadata: { name } }) => ({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` }),
  failureEvent: ({ message }) => ({ type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${message}` }),
})

export const deletePod = (object: Pod): Change => ({
  kind: 'delete',
  of: pod,
  object,
  event: ({ metadata: { name } }) => ({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` }),
  failureEvent: ({ message }) => ({ type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${message}` }),
})
