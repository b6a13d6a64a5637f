// Annotations of a Pod that have a meaning for the kubelet: of which pod it is the mirror, and the deprecated AppArmor
// profiles of its containers. They cannot change, because the kubelet reads them when the pod starts.
import { append } from '../../../../base/collections/append.ts'
import { lookup } from '../../../../base/collections/lookup.ts'
import { forbidden, invalid, type FieldError } from '../../../../schema/validation/field-error.ts'
import type { PodSpec } from '../pod-spec/pod-spec.ts'

type Annotations = Readonly<Record<string, string>>

/** Set on mirror pods: the hash of the pod from another source that the kubelet shows. */
export const mirrorPodAnnotation = 'kubernetes.io/config.mirror'
/** Followed by the name of a container. */
export const appArmorAnnotationPrefix = 'container.apparmor.security.beta.kubernetes.io/'

const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'

const pathOf = (name: string): string => `metadata.annotations[${name}]`

const none: readonly FieldError[] = []

export function validatePodAnnotations(annotations: Annotations | undefined, spec: PodSpec): FieldError[] {
  const errors: FieldError[] = []
  for (const name in annotations) {
    const value = annotations[name] ?? '' // safe name: a key of the record
    append(errors, annotationErrors(name, value, spec))
  }
  return errors
}

function annotationErrors(name: string, value: string, spec: PodSpec): readonly FieldError[] {
  if (name === mirrorPodAnnotation && !spec.nodeName)
    return [invalid(pathOf(name), value, 'must set spec.nodeName if mirror pod annotation is set')]
  if (name === deletionCost && !isInt32(value)) return [invalid(pathOf(name), value, 'must be a 32bit integer')]
  return name.startsWith(appArmorAnnotationPrefix) ? appArmorErrors(name, value, spec) : none
}

/** An integer as Go parses it: no spaces, no leading zeros. */
const isInt32 = (text: string): boolean =>
  /^-?(0|[1-9]\d*)$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31

const appArmorProfiles: ReadonlySet<string> = new Set(['', 'runtime/default', 'unconfined'])

function appArmorErrors(name: string, profile: string, spec: PodSpec): FieldError[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec
  const container = name.slice(appArmorAnnotationPrefix.length)
  const isKnown = [...initContainers, ...containers, ...ephemeralContainers].some((one) => one.name === container)
  const isValid = appArmorProfiles.has(profile) || profile.startsWith('localhost/')
  return [
    ...(isKnown ? [] : [invalid(pathOf(name), container, 'container not found')]),
    ...(isValid ? [] : [invalid(pathOf(name), profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)]),
  ]
}

/** Neither kind of annotation can be added, changed or removed. */
export function validatePodAnnotationUpdate(annotations: Annotations = {}, old: Annotations = {}): FieldError[] {
  if (annotations === old) return []
  const changed = Object.keys(old).filter((name) => lookup(annotations, name) !== lookup(old, name))
  const added = Object.keys(annotations).filter((name) => lookup(old, name) === undefined)
  return [
    ...changed.flatMap((name) => unchangeable(name, 'remove or update')),
    ...added.flatMap((name) => unchangeable(name, 'add')),
  ]
}

function unchangeable(name: string, verb: string): FieldError[] {
  if (name === mirrorPodAnnotation) return [forbidden(pathOf(name), `may not ${verb} mirror pod annotation`)]
  return name.startsWith(appArmorAnnotationPrefix)
    ? [forbidden(pathOf(name), `may not ${verb} AppArmor annotations`)]
    : []
}
