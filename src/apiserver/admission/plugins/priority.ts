// Priority: sets a pod's priority from its PriorityClass. The cluster has at most one default class.
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { priorityClass, type PriorityClass } from '../../../api/scheduling/v1/priority-class.ts'
import {
  defineAdmissionPlugin,
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
} from '../framework/admission-plugin.ts'

const noClass = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' } as const

export const priority = defineAdmissionPlugin({
  name: 'Priority',
  handles: { operations: ['create', 'update'], kinds: [pod, priorityClass] },
  admit(attributes, host) {
    const { kind, operation, object, old } = attributes
    if (kind !== pod) return object
    return operation === 'create'
      ? withPriority(attributes, object as Pod, host)
      : withOldPriority(object as Pod, old as Pod)
  },
  validate(attributes, host) {
    const { kind, object } = attributes
    if (kind !== priorityClass || !(object as PriorityClass).globalDefault) return
    const other = defaultClass(host)
    if (other !== undefined && other.metadata.name !== object?.metadata.name)
      throw admissionForbidden(
        attributes,
        `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
      )
  },
})

function withPriority(attributes: AdmissionAttributes, object: Pod, host: AdmissionHost): Pod {
  const { spec } = object
  const { name, value, preemptionPolicy } = classOf(attributes, spec.priorityClassName ?? '', host)
  if (spec.priority !== undefined && spec.priority !== value)
    throw admissionForbidden(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    )
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
    throw admissionForbidden(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    )
  const prioritized = { ...spec, priority: value, preemptionPolicy }
  return { ...object, spec: name === '' ? prioritized : { ...prioritized, priorityClassName: name } }
}

/** Older clients omit the fields that admission set; their values are preserved. */
function withOldPriority(object: Pod, { spec: before }: Pod): Pod {
  const { spec } = object
  const oldFields = {
    ...(spec.priority === undefined && before.priority !== undefined ? { priority: before.priority } : {}),
    ...(spec.preemptionPolicy === undefined && before.preemptionPolicy !== undefined
      ? { preemptionPolicy: before.preemptionPolicy }
      : {}),
  }
  return Object.keys(oldFields).length === 0 ? object : { ...object, spec: { ...spec, ...oldFields } }
}

function classOf(
  attributes: AdmissionAttributes,
  className: string,
  host: AdmissionHost,
): { name: string; value: number; preemptionPolicy: NonNullable<Pod['spec']['preemptionPolicy']> } {
  const found = className === '' ? defaultClass(host) : host.get(priorityClass, '', className)
  if (found === undefined && className !== '')
    throw admissionForbidden(attributes, `no PriorityClass with name ${className} was found`)
  if (found === undefined) return noClass
  return { name: found.metadata.name, value: found.value, preemptionPolicy: found.preemptionPolicy }
}

/** If there are several default classes, the lowest priority is used. */
function defaultClass(host: AdmissionHost): PriorityClass | undefined {
  let least: PriorityClass | undefined
  for (const each of host.list(priorityClass, ''))
    if (each.globalDefault && (least === undefined || each.value < least.value)) least = each
  return least
}
