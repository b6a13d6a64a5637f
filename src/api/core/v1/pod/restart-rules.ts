// What restartPolicyRules of containers mean for the pod.
import { cachedBySpec } from '../pod-spec/bound-spec.ts'
import type { Container } from '../container/container.ts'

/** Whether the exit of a container may restart all of the pod's containers, regardless of their policies. */
export const mayRestartAll = cachedBySpec(
  ({ containers, initContainers }): boolean =>
    containers.some(hasSuchRule) || (initContainers?.some(hasSuchRule) ?? false),
)

const hasSuchRule = ({ restartPolicyRules }: Container): boolean =>
  restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers') ?? false
