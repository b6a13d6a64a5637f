// Rules of a Pod's status: terminated containers do not run again, and addresses are of different families.
import { append } from '../../../../base/collections/append.ts'
import { isIpv4 } from '../../../../base/net/ip-bytes.ts'
import { forbidden, invalid, type FieldError } from '../../../../schema/validation/field-error.ts'
import type { ApiObject } from '../../../meta/object.ts'
import { validatePodAnnotationUpdate } from './pod-annotations.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { ipErrors } from '../../../validation/network-rules.ts'
import type { Container } from '../container/container.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import type { PodSpec } from '../pod-spec/pod-spec.ts'
import { mayRestartAll } from './restart-rules.ts'

interface Pod extends ApiObject {
  readonly spec: PodSpec
  readonly status: PodStatus
}

export function validatePodStatusUpdate(object: Pod, { metadata, status: old }: Pod): FieldError[] {
  const { spec, status } = object
  const { nominatedNodeName: nominated, conditions = none, hostIPs = none } = status
  const errors = validatePodAnnotationUpdate(object.metadata.annotations, metadata.annotations)
  if (nominated !== undefined)
    for (const detail of dnsSubdomainErrors(nominated))
      errors.push(invalid('status.nominatedNodeName', nominated, detail))
  for (let index = 0; index < conditions.length; index++)
    for (const detail of qualifiedNameErrors(conditions[index]?.type ?? ''))
      errors.push(invalid(`status.conditions[${index}].Condition`, conditions[index]?.type, detail))
  if (spec.restartPolicy !== 'Always' && !mayRestartAll(spec)) {
    append(errors, validateEnds(status, old, 'containerStatuses', spec.containers, spec.restartPolicy))
    append(errors, validateEnds(status, old, 'initContainerStatuses', spec.initContainers ?? none, spec.restartPolicy))
  }
  if (old.ephemeralContainerStatuses !== undefined)
    append(errors, validateEnds(status, old, 'ephemeralContainerStatuses', none, 'Never'))
  if (status.podIPs !== undefined) append(errors, validateAddresses(status.podIPs, 'status.podIPs'))
  if (hostIPs[0] !== undefined && hostIPs[0].ip !== status.hostIP)
    errors.push(invalid('status.hostIPs[0].ip', hostIPs[0].ip, 'must be equal to `hostIP`'))
  if (hostIPs.length > 0) append(errors, validateAddresses(hostIPs, 'status.hostIPs'))
  return errors
}

const none: readonly never[] = []

/** A container leaves the terminated state only if it can be restarted. */
function validateEnds(
  status: PodStatus,
  old: PodStatus,
  field: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses',
  containers: readonly Container[],
  restartPolicy: Exclude<PodSpec['restartPolicy'], 'Always'>,
): FieldError[] {
  const isRunningAgain = ({ name }: ContainerStatus) =>
    (status[field] ?? []).some((now) => now.name === name && now.state?.terminated === undefined)
  return (old[field] ?? []).flatMap((before, index) => {
    const exitCode = before.state?.terminated?.exitCode
    if (exitCode === undefined || !isRunningAgain(before)) return []
    const container = containers.find(({ name }) => name === before.name)
    // Restart rules and policies of single containers are evaluated by the kubelet.
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
  const ofFour = texts.filter(isIpv4).length
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
