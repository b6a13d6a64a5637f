// Controller managers as components, with the controllers of a cloud.
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import { addressPoolController } from '../../cloud/address-pool/address-pool-controller.ts'
import { cloudControllers } from '../../cloud/cloud-controllers.ts'
import { nodeAddressController } from '../../cloud/node-addresses/node-address-controller.ts'
import type { SimulatedCloud } from '../../cloud/simulated/simulated-cloud.ts'
import { controllers } from '../../controllers/controllers.ts'
import { managerAccount, type Controller } from '../../controllers/runtime/controller.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import type { ControllerMetrics } from '../../controllers/runtime/runner.ts'
import { controllerManagerUser, controllerUser } from '../client/component-users.ts'
import type { LoadBalancerChoice } from '../flags/load-balancer-flags.ts'
import { startControllerManager } from './controller-manager.ts'
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'

export interface ControllersContext extends ComponentContext {
  readonly controllerMetrics: ControllerMetrics
  readonly controllerSettings: ControllerSettings
}

/** The first manager is the only one, or one of several of which one leads. */
export function controllerManagerComponent(cluster: ControllersContext, index: number): Component {
  const { options, flow, controllerMetrics: metrics, controllerSettings: settings } = cluster
  const { clock, random, log, controllerManagers = 1 } = options
  const balancers = balancerControllers(options.loadBalancers)
  const name = index === 0 ? 'controllers' : `controllers-${index}`
  return new Component(name, options, (tasks) => {
    startControllerManager(tasks, {
      ...{ clock, random: random.fork(name), log, flow, metrics, settings },
      controllers: [...controllers, ...balancers],
      client: cluster.client(name, controllerManagerUser),
      clientOf: ({ name: controller, account }) =>
        cluster.client(
          `controller/${controller}`,
          account === managerAccount ? controllerManagerUser : controllerUser(account),
        ),
      ...(controllerManagers > 1 ? { identity: `${name}_1` } : {}),
    })
  })
}

export function cloudControllersComponent(cluster: ControllersContext, cloud: SimulatedCloud): Component {
  const { options, flow, controllerMetrics: metrics, controllerSettings: settings } = cluster
  const { clock, random, log } = options
  const name = 'cloud-controllers'
  return new Component(name, options, (tasks) => {
    startControllerManager(tasks, {
      ...{ clock, log, random: random.fork(name), flow, metrics, settings },
      client: cluster.client(name, controllerManagerUser),
      clientOf: ({ name: controller, account }) => cluster.client(`controller/${controller}`, controllerUser(account)),
      controllers: cloudControllers(cloud.provider, { clock, flow }),
    })
  })
}

function balancerControllers(choice: LoadBalancerChoice = 'none'): readonly Controller[] {
  if (choice === 'none') return []
  return [
    choice === 'node-addresses' ? nodeAddressController : addressPoolController(AddressPool.parse(choice.addresses)),
  ]
}
