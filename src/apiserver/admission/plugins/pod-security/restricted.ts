// The restricted level: requirements for hardened pods, in addition to the baseline.
import { containersText, isWindows, quoted, settersText, type AnyContainer, type Check } from './pod-security-check.ts'

const volumeTypes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

/** From this version on, Windows pods are exempt from Linux-specific checks. */
const windowsSince = 25

const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  since: 8,
  check({ spec, containers }, minor) {
    if (minor >= windowsSince && isWindows(spec)) return undefined
    const lacking = containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
    if (lacking.length === 0) return undefined
    return {
      reason: 'allowPrivilegeEscalation != false',
      detail: `${containersText(lacking)} must set securityContext.allowPrivilegeEscalation=false`,
    }
  },
}

const capabilities: Check = {
  id: 'capabilities_restricted',
  since: 22,
  replaces: ['capabilities_baseline'],
  check({ spec, containers }, minor) {
    if (minor >= windowsSince && isWindows(spec)) return undefined
    const capabilitiesOf = ({ securityContext }: AnyContainer) => securityContext?.capabilities
    const forbidden = (container: AnyContainer) =>
      (capabilitiesOf(container)?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE')
    const keeping = containers.filter((container) => !capabilitiesOf(container)?.drop?.includes('ALL'))
    const adding = containers.filter((container) => forbidden(container).length > 0)
    const names = [...new Set(adding.flatMap(forbidden))].toSorted()
    const details = [
      ...(keeping.length === 0
        ? []
        : [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
      ...(adding.length === 0
        ? []
        : [`${containersText(adding)} must not include ${quoted(names)} in securityContext.capabilities.add`]),
    ]
    return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
  },
}

const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  replaces: ['hostPathVolumes'],
  check({ spec }) {
    const typeOf = (volume: object) => Object.keys(volume).find((field) => field !== 'name') ?? 'unknown'
    const bad = (spec.volumes ?? []).filter((volume) => !volumeTypes.has(typeOf(volume)))
    if (bad.length === 0) return undefined
    const types = [...new Set(bad.map(typeOf))].toSorted()
    const [noun, verb] = bad.length === 1 ? ['volume', 'uses'] : ['volumes', 'use']
    const kind = types.length === 1 ? 'type' : 'types'
    const names = quoted(bad.map(({ name }) => name))
    return {
      reason: 'restricted volume types',
      detail: `${noun} ${names} ${verb} restricted volume ${kind} ${quoted(types)}`,
    }
  },
}

const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  check({ spec, containers }, minor) {
    // With its own user namespace, root in the pod is an unprivileged user on the node.
    if (minor >= 35 && spec.hostUsers === false) return undefined
    const own = spec.securityContext?.runAsNonRoot
    const denying = containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === false)
    const silent = containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === undefined)
    const reason = 'runAsNonRoot != true'
    const isPodDenying = own === false && silent.length > 0
    if (isPodDenying || denying.length > 0)
      return {
        reason,
        detail: `${settersText(isPodDenying, denying)} must not set securityContext.runAsNonRoot=false`,
      }
    if (own === true || silent.length === 0) return undefined
    return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` }
  },
}

const runAsUser: Check = {
  id: 'runAsUser',
  since: 23,
  check({ spec, containers }, minor) {
    if (minor >= 35 && spec.hostUsers === false) return undefined
    const isPod = spec.securityContext?.runAsUser === 0
    const setting = containers.filter(({ securityContext }) => securityContext?.runAsUser === 0)
    if (!isPod && setting.length === 0) return undefined
    return { reason: 'runAsUser=0', detail: `${settersText(isPod, setting)} must not set runAsUser=0` }
  },
}

const seccompProfile: Check = {
  id: 'seccompProfile_restricted',
  since: 19,
  replaces: ['seccompProfile_baseline'],
  check({ spec, containers }, minor) {
    if (minor >= windowsSince && isWindows(spec)) return undefined
    const isAllowed = (type: string) => type === 'RuntimeDefault' || type === 'Localhost'
    const own = spec.securityContext?.seccompProfile?.type
    const isPodBad = own !== undefined && !isAllowed(own)
    const profileOf = ({ securityContext }: AnyContainer) => securityContext?.seccompProfile?.type
    const setting = containers.filter((container) => {
      const type = profileOf(container)
      return type !== undefined && !isAllowed(type)
    })
    const silent = containers.filter((container) => profileOf(container) === undefined)
    const wanted = 'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    const details = [
      ...(isPodBad || setting.length > 0
        ? [`${settersText(isPodBad, setting)} must not set securityContext.seccompProfile.type to "Unconfined"`]
        : []),
      ...(own === undefined && silent.length > 0 ? [`pod or ${containersText(silent)} must set ${wanted}`] : []),
    ]
    return details.length === 0 ? undefined : { reason: 'seccompProfile', detail: details.join('; ') }
  },
}

export const restricted: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilities,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfile,
]
