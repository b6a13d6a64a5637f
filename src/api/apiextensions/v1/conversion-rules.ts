// Rules of the conversion between the versions of a CustomResourceDefinition.
import { append } from '../../../base/collections/append.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateReviewVersions, validateWebhookClient } from '../../admissionregistration/v1/webhook-rules.ts'
import type { CustomResourceConversion, CustomResourceDefinitionSpec } from './custom-resource-definition-spec.ts'

const strategies = ['None', 'Webhook']

/** A definition is created with any bundle. An update must not replace a valid bundle, or none, by an invalid one. */
export function validateConversion(
  conversion: CustomResourceConversion,
  path: string,
  old: CustomResourceDefinitionSpec | undefined,
): FieldError[] {
  const { strategy, webhook } = conversion
  const errors: FieldError[] = []
  if (strategy === '') errors.push(required(`${path}.strategy`))
  else if (!strategies.includes(strategy)) errors.push(notSupported(`${path}.strategy`, strategy, strategies))
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {}
  const clientPath = `${path}.webhookClientConfig`
  const versionsPath = `${path}.conversionReviewVersions`
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (clientConfig !== undefined) errors.push(forbidden(clientPath, detail))
    if (conversionReviewVersions.length > 0) errors.push(forbidden(versionsPath, detail))
    return errors
  }
  if (clientConfig === undefined) errors.push(required(clientPath, 'required when strategy is set to Webhook'))
  else {
    append(errors, validateWebhookClient(clientConfig, clientPath))
    if (old !== undefined && hasUsableBundle(old) && !isUsableBundle(clientConfig.caBundle))
      errors.push(
        invalid(
          `${clientPath}.caBundle`,
          clientConfig.caBundle,
          'unable to load root certificates: unable to parse bytes as PEM block',
        ),
      )
  }
  return [
    ...errors,
    ...(conversionReviewVersions.length === 0
      ? [required(versionsPath)]
      : validateReviewVersions(conversionReviewVersions, versionsPath)),
  ]
}

/** Whether the definition has no bundle of certificates or a valid one. Otherwise it is not established. */
export const hasUsableBundle = ({ conversion }: CustomResourceDefinitionSpec): boolean =>
  isUsableBundle(conversion?.webhook?.clientConfig?.caBundle)

/** Certificates in PEM. Only the presence of certificates is checked; clients of the webhook parse them. */
const isUsableBundle = (caBundle = ''): boolean =>
  caBundle === '' || /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(atob(caBundle))
