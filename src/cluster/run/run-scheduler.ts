// A scheduler in its own process.
import { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import { schedulerComponent } from '../components/scheduler.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunSchedulerOptions extends ComponentProcessOptions {
  readonly configuration: SchedulerConfiguration
}

/** Runs until the signal is aborted; throws when the lease is lost. */
export async function runScheduler(options: RunSchedulerOptions, signal: AbortSignal): Promise<void> {
  const decisions = new DecisionRecord()
  await runComponent(schedulerComponent(options.configuration, decisions), options, signal, {
    alongside: (remote, tasks) =>
      tasks.start('scheduling queries', (stop) =>
        remote.answerQueries((podKey) => decisions.explain(podKey), options.log, stop),
      ),
  })
}
