// Reads the KubeSchedulerConfiguration that a flag names.
import { readFile } from 'node:fs/promises'
import { errorText } from '../../base/observability/log.ts'
import {
  parseSchedulerConfiguration,
  type SchedulerConfiguration,
} from '../../scheduler/framework/scheduler-configuration.ts'
import { UsageError } from '../command/command.ts'

export async function schedulerConfiguration(flag: string, path: string | undefined): Promise<SchedulerConfiguration> {
  if (path === undefined) return {}
  try {
    const { parse } = await import('yaml')
    return parseSchedulerConfiguration(parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new UsageError(`${flag} ${path}: ${errorText(error)}`, { cause: error })
  }
}
