// ServicePorts: the numbers that the ports of a Service have on pods. Pods on which its named ports have the same numbers share
// one result, so that it does not cost a step for every pod and port.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ServicePort } from '../../api/core/v1/service/service-spec.ts'

/** A port of the Service that the pod has. */
export interface PodPort {
  /** Its index in the Service. */
  readonly index: number
  readonly of: ServicePort
  readonly number: number
}

export class ServicePorts {
  readonly #ports: readonly ServicePort[]
  /** The ports that are named by pods: protocol and name. */
  readonly #names: ReadonlySet<string>
  readonly #known = new Map<string, readonly PodPort[]>()

  constructor({ spec: { ports = [] } }: Service) {
    this.#ports = ports
    this.#names = new Set(ports.filter(hasName).map(({ protocol, targetPort }) => `${protocol} ${targetPort}`))
  }

  /** The same array for all pods on which the ports have the same numbers. */
  on(pod: Pod): readonly PodPort[] {
    const numbers = this.#numbersOn(pod)
    const key = Array.from(numbers, ([name, number]) => `${name} ${number}`).join('\n')
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const found = this.#ports.flatMap((of, index): PodPort[] => {
      const { targetPort, protocol, port } = of
      const number = hasName(of) ? numbers.get(`${protocol} ${targetPort}`) : targetPort
      return number === undefined && hasName(of) ? [] : [{ index, of, number: Number(number) || port }]
    })
    this.#known.set(key, found)
    return found
  }

  /** The numbers of named ports, by protocol and name. The first container with a name counts. */
  #numbersOn({ spec }: Pod): ReadonlyMap<string, number> {
    const numbers = new Map<string, number>()
    if (this.#names.size === 0) return numbers
    const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
    for (const { ports = [] } of [...spec.containers, ...sidecars])
      for (const { name, protocol, containerPort } of ports) {
        const id = `${protocol} ${name}`
        if (this.#names.has(id) && !numbers.has(id)) numbers.set(id, containerPort)
      }
    return numbers
  }
}

const hasName = ({ targetPort }: ServicePort): boolean => typeof targetPort === 'string' && targetPort !== ''
