// What restartPolicyRules of containers mean for their pod as a whole.
import { cachedBySpec } from '../pod-spec/bound-spec.ts'
import type { Container } from '../container/container.ts'

/** Whether the exit of a container may have all of the pod's containers started again, whatever their policies. */
export const mayRestartAll = cachedBySpec(
  ({ containers, initContainers }): boolean =>
    containers.some(hasSuchRule) || (initContainers?.some(hasSuchRule) ?? false),
)

const hasSuchRule = ({ restartPolicyRules }: Container): boolean =>
  restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers') ?? false
