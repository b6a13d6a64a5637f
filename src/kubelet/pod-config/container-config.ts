// Converts a container of a pod to the configuration that the runtime gets.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { ContainerConfig } from '../../machine/runtime/runtime-config.ts'
import type { RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import { environmentOf, type EnvironmentSources } from './environment.ts'
import { expandVariables, ProgramSize } from './variable-expansion.ts'
import { linuxResources } from '../resources/linux-resources.ts'
import { containerSecurity } from './security-context.ts'

export interface ContainerSources extends EnvironmentSources {
  readonly memoryCapacityBytes: number
}

/** Throws ConfigError when the container cannot be configured as its pod specifies. */
export function containerConfig(
  container: Container,
  attempt: number,
  image: RuntimeImage,
  seen: Pick<ContainerConfig, 'mounts' | 'devices'>,
  sources: ContainerSources,
): ContainerConfig {
  const { pod, memoryCapacityBytes } = sources
  const { name, command = [], args = [] } = container
  const environment = environmentOf(container, sources)
  const variables = new Map(environment.map((variable) => [variable.name, variable.value]))
  const size = new ProgramSize()
  const expanded = (words: readonly string[], field: string): string[] =>
    words.map((text, index) => {
      const what = `${field}[${index}] of container ${JSON.stringify(name)}`
      const word = expandVariables(text, (variable) => variables.get(variable), what)
      size.add(word.length, what)
      return word
    })
  return {
    name,
    image: container.image ?? '',
    imageId: image.id,
    attempt,
    command: expanded(command, 'command'),
    arguments: expanded(args, 'args'),
    workingDirectory: container.workingDir ?? '',
    environment,
    ...seen,
    logFile: `${name}/${attempt}.log`,
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    labels: {
      'io.kubernetes.container.name': name,
      'io.kubernetes.pod.name': pod.metadata.name,
      'io.kubernetes.pod.namespace': pod.metadata.namespace ?? '',
      'io.kubernetes.pod.uid': pod.metadata.uid,
    },
    annotations: { 'io.kubernetes.container.restartCount': String(attempt) },
    resources: linuxResources(container, pod.spec, memoryCapacityBytes),
    security: containerSecurity(container, pod.spec, image),
    ...(container.lifecycle?.stopSignal === undefined ? {} : { stopSignal: container.lifecycle.stopSignal }),
  }
}
