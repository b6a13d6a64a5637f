// Converts a pod to the configuration of its sandbox.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { HostPort, SandboxConfig } from '../../machine/runtime/runtime-config.ts'
import { podCgroup } from '../resources/pod-cgroups.ts'
import { dnsOf, type ClusterDns } from './dns.ts'
import { hostnameOf } from './hosts-file.ts'
import { logDirectory, type NodePaths } from './node-paths.ts'
import { namespacesOf, sandboxSecurity } from './security-context.ts'

export interface SandboxSources {
  readonly paths: NodePaths
  readonly dns: ClusterDns
  /** The cgroup of all pods. */
  readonly cgroupRoot: string
  /** The handler of the pod's RuntimeClass; empty for the default. */
  readonly runtimeHandler: string
}

export function sandboxConfig(pod: Pod, attempt: number, sources: SandboxSources): SandboxConfig {
  const { metadata, spec } = pod
  const { paths, dns, cgroupRoot, runtimeHandler } = sources
  const namespace = namespaceOf(pod)
  return {
    podUid: metadata.uid,
    namespace,
    name: metadata.name,
    attempt,
    // A host network pod shares the node's UTS namespace, where the hostname cannot be set.
    hostname: spec.hostNetwork ? '' : hostnameOf(pod, dns.domain).hostname,
    logDirectory: logDirectory(paths, pod),
    labels: {
      ...metadata.labels,
      'io.kubernetes.pod.name': metadata.name,
      'io.kubernetes.pod.namespace': namespace,
      'io.kubernetes.pod.uid': metadata.uid,
    },
    annotations: metadata.annotations ?? {},
    dns: dnsOf(pod, dns).config,
    ports: portsOf(pod),
    cgroupParent: podCgroup(cgroupRoot, pod),
    namespaces: namespacesOf(spec),
    sysctls: Object.fromEntries((spec.securityContext?.sysctls ?? []).map(({ name, value }) => [name, value])),
    security: sandboxSecurity(spec),
    runtimeHandler,
  }
}

const portsOf = ({ spec }: Pod): HostPort[] =>
  spec.hostNetwork
    ? []
    : [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ ports = [] }) =>
        ports
          .filter(({ hostPort = 0 }) => hostPort > 0)
          .map(({ protocol, containerPort, hostPort = 0, hostIP = '' }) => ({
            protocol,
            containerPort,
            hostPort,
            hostIp: hostIP,
          })),
      )
