// RuntimeClass: a pod with a class gets the overhead, node selector and tolerations of the class.
import { lookup, setOwn } from '../../../base/collections/lookup.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { runtimeClass, type RuntimeClass } from '../../../api/node/v1/runtime-class.ts'
import { equalValues, identityOf } from '../../../schema/json/json-value.ts'
import {
  defineAdmissionPlugin,
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
} from '../framework/admission-plugin.ts'

export const runtimeClassAdmission = defineAdmissionPlugin({
  name: 'RuntimeClass',
  handles: { operations: ['create'], kinds: [pod] },
  admit(attributes, host) {
    const object = attributes.object as Pod
    const found = classOf(attributes, object, host)
    return found === undefined ? object : withScheduling(attributes, withOverhead(attributes, object, found), found)
  },
  validate(attributes, host) {
    const object = attributes.object as Pod
    if (object.spec.overhead !== undefined && classOf(attributes, object, host)?.overhead === undefined)
      throw admissionForbidden(
        attributes,
        'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      )
  },
})

function classOf(attributes: AdmissionAttributes, { spec }: Pod, host: AdmissionHost): RuntimeClass | undefined {
  const name = spec.runtimeClassName
  if (name === undefined) return undefined
  const found = host.get(runtimeClass, '', name)
  if (found === undefined) throw admissionForbidden(attributes, `pod rejected: RuntimeClass "${name}" not found`)
  return found
}

function withOverhead(attributes: AdmissionAttributes, object: Pod, { overhead }: RuntimeClass): Pod {
  const { spec } = object
  if (overhead === undefined) return object
  if (spec.overhead !== undefined && !equalValues(spec.overhead, overhead.podFixed ?? {}))
    throw admissionForbidden(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
  return { ...object, spec: { ...spec, overhead: overhead.podFixed ?? {} } }
}

function withScheduling(attributes: AdmissionAttributes, object: Pod, { scheduling }: RuntimeClass): Pod {
  if (scheduling === undefined) return object
  const { spec } = object
  const nodeSelector = { ...spec.nodeSelector }
  for (const [label, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    if ((lookup(nodeSelector, label) ?? value) !== value)
      throw admissionForbidden(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${label}] = ${value}; pod.spec.nodeSelector[${label}] = ${lookup(nodeSelector, label)}`,
      )
    setOwn(nodeSelector, label, value)
  }
  const own = spec.tolerations ?? []
  const known = new Set(own.map(identityOf))
  const added = (scheduling.tolerations ?? []).filter((one) => !known.has(identityOf(one)))
  const tolerations = [...own, ...added]
  return {
    ...object,
    spec: {
      ...spec,
      ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
      ...(tolerations.length === 0 ? {} : { tolerations }),
    },
  }
}
