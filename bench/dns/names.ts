// The names and addresses that all servers of the benchmark serve.

export const services = 10_000

export const serviceName = (index: number): string => `service-${index}`
export const fullName = (index: number): string => `${serviceName(index)}.default.svc.cluster.local`
export const serviceAddress = (index: number): string => `10.96.${index >> 8}.${index & 255}`
