// Rules of a CronJob: its schedule, its time zone, and its Job template.
import { invalid, notSupported, type FieldError } from '../../../schema/validation/field-error.ts'
import { scheduleError } from './cron-schedule.ts'
import type { CronJobSpec, JobTemplateSpec } from './cron-job-spec.ts'
import { withJobTemplateDefaults } from './job-defaults.ts'
import { validateJobSpec } from './job-rules.ts'

/** The name of a Job is this name with a dash and the minute, and may have 63 characters. */
const nameCharsMax = 52
const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/

export function withCronJobDefaults(spec: CronJobSpec): CronJobSpec {
  const { jobTemplate } = spec
  return { ...spec, jobTemplate: { ...jobTemplate, spec: withJobTemplateDefaults(jobTemplate.spec) } }
}

export function validateCronJob(spec: CronJobSpec, name: string): FieldError[] {
  const errors = [
    ...validateSchedule(spec),
    ...validateTimeZone(spec.timeZone, 'spec.timeZone'),
    ...validateJobTemplate(spec.jobTemplate, 'spec.jobTemplate'),
  ]
  if (name.length > nameCharsMax)
    errors.push(invalid('metadata.name', name, `must be no more than ${nameCharsMax} characters`))
  return errors
}

function validateSchedule({ schedule }: CronJobSpec): FieldError[] {
  if (!schedule) return []
  const why = scheduleError(schedule)
  const errors = why === undefined ? [] : [invalid('spec.schedule', schedule, why)]
  if (schedule.includes('TZ'))
    errors.push(invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  return errors
}

function validateTimeZone(timeZone: string | undefined, path: string): FieldError[] {
  if (timeZone === undefined) return []
  if (timeZone === '') return [invalid(path, timeZone, 'timeZone must be nil or non-empty string')]
  const parts = timeZone.split('/')
  if (parts.some((part) => part === '.' || part === '..' || part.startsWith('-') || !zonePart.test(part)))
    return [invalid(path, timeZone, `unknown time zone ${timeZone}`)]
  if (timeZone.toLowerCase() === 'local')
    return [
      invalid(path, timeZone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'),
    ]
  return isTimeZone(timeZone) ? [] : [invalid(path, timeZone, `unknown time zone ${timeZone}`)]
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat
  } catch {
    return false // Intl throws a RangeError for an unknown time zone
  }
}

function validateJobTemplate({ spec }: JobTemplateSpec, path: string): FieldError[] {
  const errors = validateJobSpec(spec, `${path}.spec`)
  if (spec.selector !== undefined)
    errors.push(invalid(`${path}.spec.selector`, spec.selector, '`selector` will be auto-generated'))
  if (spec.manualSelector) errors.push(notSupported(`${path}.spec.manualSelector`, true, ['nil', 'false']))
  return errors
}
