// Rules of a Pod's status: what has ended for good does not run again, and addresses are of different families.
import { forbidden, invalid, type FieldError } from '../../../schema/field-error.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../names.ts'
import { ipErrors, isIpV4 } from '../../network-rules.ts'
import type { Container } from './container.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import type { PodSpec } from './pod-spec.ts'

interface Pod {
  readonly spec: PodSpec
  readonly status: PodStatus
}

export function validatePodStatusUpdate({ spec, status }: Pod, { status: old }: Pod): FieldError[] {
  const { nominatedNodeName: nominated, conditions = [] } = status
  return [
    ...(nominated === undefined ? [] : dnsSubdomainErrors(nominated)).map((detail) =>
      invalid('status.nominatedNodeName', nominated, detail),
    ),
    ...conditions.flatMap(({ type }, index) =>
      qualifiedNameErrors(type ?? '').map((detail) => invalid(`status.conditions[${index}].Condition`, type, detail)),
    ),
    ...validateEnds(status, old, 'containerStatuses', spec.containers, spec),
    ...validateEnds(status, old, 'initContainerStatuses', spec.initContainers ?? [], spec),
    ...validateEnds(status, old, 'ephemeralContainerStatuses', [], { ...spec, restartPolicy: 'Never' }),
    ...validateAddresses(status.podIPs ?? [], 'status.podIPs'),
    ...(status.hostIPs?.[0] !== undefined && status.hostIPs[0].ip !== status.hostIP
      ? [invalid('status.hostIPs[0].ip', status.hostIPs[0].ip, 'must be equal to `hostIP`')]
      : []),
    ...validateAddresses(status.hostIPs ?? [], 'status.hostIPs'),
  ]
}

/** A container that has ended leaves this state only if it is one that is started again. */
function validateEnds(
  status: PodStatus,
  old: PodStatus,
  field: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses',
  containers: readonly Container[],
  { restartPolicy }: Pick<PodSpec, 'restartPolicy'>,
): FieldError[] {
  if (restartPolicy === 'Always') return []
  const isRunningAgain = ({ name }: ContainerStatus) =>
    (status[field] ?? []).some((now) => now.name === name && now.state?.terminated === undefined)
  return (old[field] ?? []).flatMap((before, index) => {
    const exitCode = before.state?.terminated?.exitCode
    if (exitCode === undefined || !isRunningAgain(before)) return []
    const container = containers.find(({ name }) => name === before.name)
    // Rules and policies of single containers are the kubelet's to read.
    if (container?.restartPolicy !== undefined || (exitCode !== 0 && restartPolicy === 'OnFailure')) return []
    return [forbidden(`status.${field}[${index}].state`, 'may not be transitioned to non-terminated state')]
  })
}

/** One address, or one of each family. */
function validateAddresses(addresses: readonly { readonly ip?: string }[], path: string): FieldError[] {
  const texts = addresses.map(({ ip = '' }) => ip)
  const errors = texts.flatMap((text, index) =>
    ipErrors(text).map((detail) => invalid(`${path}[${index}]`, text, detail)),
  )
  const ofFour = texts.filter(isIpV4).length
  if (texts.length > 2 || (texts.length === 2 && ofFour !== 1))
    errors.push(
      invalid(
        path,
        texts.map((IP) => ({ IP })),
        'may specify no more than one IP for each IP family',
      ),
    )
  return errors
}
