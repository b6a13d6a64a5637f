// A controller manager as a component: controllers on shared informers, each under its own account.
import type { Metrics } from '../../base/observability/metrics.ts'
import { Informers } from '../../client/informer/informers.ts'
import { managerAccount, type Controller } from '../../controllers/runtime/controller.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import type { ControllerMetrics } from '../../controllers/runtime/runner.ts'
import { controllerMetrics, startController } from '../../controllers/runtime/start-controller.ts'
import { controllerManagerUser, controllerUser } from '../client/component-users.ts'
import type { ComponentDefinition, ComponentHost } from './component-definition.ts'

export interface ControllerManagerOptions {
  readonly name: string
  readonly lease: string
  readonly isCoordinated?: boolean
  readonly controllers: (host: ComponentHost) => readonly Controller[]
  readonly settings: (host: ComponentHost) => ControllerSettings
  /** Several managers of a process share their metrics. */
  readonly metricsIn?: (metrics: Metrics) => ControllerMetrics
}

export const controllerManagerComponent = ({
  name,
  lease,
  isCoordinated = false,
  controllers,
  settings,
  metricsIn = controllerMetrics,
}: ControllerManagerOptions): ComponentDefinition => ({
  name,
  user: controllerManagerUser,
  lease,
  isCoordinated,
  prepare(host) {
    const { clock, random, log, flow } = host
    const metrics = metricsIn(host.metrics)
    const shared = { clock, log, flow, metrics, settings: settings(host) }
    const own = controllers(host)
    return {
      start(tasks) {
        const informers = new Informers(host.client(name, controllerManagerUser), { clock, random, log }, tasks)
        for (const controller of own) {
          const { account } = controller
          const user = account === managerAccount ? controllerManagerUser : controllerUser(account)
          const client = host.client(`controller/${controller.name}`, user)
          startController(controller, { ...shared, random: random.fork(controller.name), client, informers }, tasks)
        }
      },
    }
  },
})
