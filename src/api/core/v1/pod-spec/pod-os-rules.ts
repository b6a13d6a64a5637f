// Fields that are not allowed for the operating system of a pod.
import { forbidden, notSupported, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import type { PodSpec } from './pod-spec.ts'

const linuxOnly = 'cannot be set for a windows pod'
const windowsOnly = 'windows options cannot be set for a linux pod'
const podFields = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const
const podContextFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const
const containerContextFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const

export function validateOs(spec: PodSpec, path: string): FieldError[] {
  if (spec.os === undefined) return []
  switch (spec.os.name ?? '') {
    case '':
      return [required(`${path}.os.name`, 'cannot be empty')]
    case 'linux':
      return contextsOf(spec, path)
        .filter(({ context }) => context.windowsOptions !== undefined)
        .map(({ at }) => forbidden(`${at}.windowsOptions`, windowsOnly))
    case 'windows':
      return validateWindows(spec, path)
    default:
      return [notSupported(`${path}.os`, spec.os.name, ['linux', 'windows'])]
  }
}

function validateWindows(spec: PodSpec, path: string): FieldError[] {
  const [ownContext, ...contexts] = contextsOf(spec, path)
  return [
    ...podFields.filter((name) => spec[name] !== undefined).map((name) => forbidden(`${path}.${name}`, linuxOnly)),
    ...podContextFields
      .filter((name) => spec.securityContext[name] !== undefined)
      .map((name) => forbidden(`${ownContext?.at}.${name}`, linuxOnly)),
    ...contexts.flatMap(({ context, at }) =>
      containerContextFields
        .filter((name) => (context as Readonly<Record<string, unknown>>)[name] !== undefined)
        .map((name) => forbidden(`${at}.${name}`, linuxOnly)),
    ),
  ]
}

/** The pod's own security context first, then those of its containers. */
const contextsOf = (spec: PodSpec, path: string) => [
  { context: spec.securityContext, at: `${path}.securityContext` },
  ...(['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap(({ securityContext }, index) =>
      securityContext === undefined
        ? []
        : [{ context: securityContext, at: `${path}.${field}[${index}].securityContext` }],
    ),
  ),
]
