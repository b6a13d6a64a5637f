// The controller managers of a cluster in one process, with the controllers of a cloud.
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import { addressPoolController } from '../../cloud/address-pool/address-pool-controller.ts'
import { cloudControllers } from '../../cloud/cloud-controllers.ts'
import { nodeAddressController } from '../../cloud/node-addresses/node-address-controller.ts'
import type { SimulatedCloud } from '../../cloud/simulated/simulated-cloud.ts'
import { controllers } from '../../controllers/controllers.ts'
import type { Controller } from '../../controllers/runtime/controller.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import type { ControllerMetrics } from '../../controllers/runtime/runner.ts'
import type { LoadBalancerChoice } from '../flags/load-balancer-flags.ts'
import type { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'
import { componentIn } from './component-in-cluster.ts'
import { controllerManagerComponent } from './controller-manager.ts'

export interface ControllersContext extends ComponentContext {
  readonly controllerMetrics: ControllerMetrics
  readonly controllerSettings: ControllerSettings
}

/** The first manager is the only one, or one of several of which one leads. */
export function controllerManagerIn(cluster: ControllersContext, index: number): Component {
  const { controllerManagers = 1, loadBalancers } = cluster.options
  const name = index === 0 ? 'controllers' : `controllers-${index}`
  const own = [...controllers, ...balancerControllers(loadBalancers)]
  const definition = controllerManagerComponent({
    name,
    lease: 'kube-controller-manager',
    isCoordinated: true,
    controllers: () => own,
    ...sharedBy(cluster),
  })
  return componentIn(cluster, definition, controllerManagers > 1 ? `${name}_1` : undefined)
}

export function cloudControllersIn(cluster: ControllersContext, cloud: SimulatedCloud): Component {
  const definition = controllerManagerComponent({
    name: 'cloud-controllers',
    lease: 'cloud-controller-manager',
    controllers: (host) => cloudControllers(cloud.provider, host),
    ...sharedBy(cluster),
  })
  return componentIn(cluster, definition)
}

const sharedBy = ({ controllerMetrics, controllerSettings }: ControllersContext) => ({
  settings: () => controllerSettings,
  metricsIn: () => controllerMetrics,
})

function balancerControllers(choice: LoadBalancerChoice = 'none'): readonly Controller[] {
  if (choice === 'none') return []
  return [
    choice === 'node-addresses' ? nodeAddressController : addressPoolController(AddressPool.parse(choice.addresses)),
  ]
}
