//! The operator's settings of traces.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use url::Url;

/// The address of a collector for spans, and of one for everything.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// The share of the sampler `traceidratio`.
const SHARE: &str = "OTEL_TRACES_SAMPLER_ARG";
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// The share of traces that are recorded, if the operator sets none, with a collector and without.
const SAMPLE: f64 = 0.1;
const KEPT_SAMPLE: f64 = 0.01;
/// The largest number of traces that are kept in memory.
const MAX_KEPT: usize = 1_000;

/// The choice of traces that are recorded, how many are kept, and their collector. The fields are those of the table
/// `[telemetry]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// The address of a collector that takes OTLP over HTTP, without `/v1/traces`; `None` to send nothing.
    pub otlp_endpoint: Option<String>,
    /// The share of traces that are recorded, from 0 to 1, of those whose caller does not decide; `None` for 0.1 with
    /// a collector and 0.01 without.
    pub sample: Option<f64>,
    /// The number of latest traces that are kept in memory for the operator; 0 for none.
    pub keep: usize,
    /// The name of this host in traces.
    pub service_name: String,
    /// A file with headers for the collector, such as its key: a line `name=value` each.
    pub headers_file: Option<PathBuf>,
    /// Whether a caller whose `traceparent` is sampled, or is not, decides for its traces.
    pub follow_callers: bool,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self {
            otlp_endpoint: None,
            sample: None,
            keep: 200,
            service_name: "portolan".to_owned(),
            headers_file: None,
            follow_callers: true,
        }
    }
}

impl TelemetrySettings {
    /// Returns the settings after OpenTelemetry's environment variables, which override those of the file. The
    /// exporter itself reads the variables of its headers and its time-out. A variable that cannot be used is added to
    /// `faults`, and changes nothing.
    #[must_use]
    pub fn with_environment(
        mut self,
        variable: impl Fn(&str) -> Option<String>,
        faults: &mut Vec<String>,
    ) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(endpoint) = ENDPOINTS.iter().find_map(|name| variable(name)) {
            self.otlp_endpoint = Some(endpoint);
        }
        if let Some(name) = variable("OTEL_SERVICE_NAME") {
            self.service_name = name;
        }
        if let Some(sampler) = variable("OTEL_TRACES_SAMPLER") {
            let kind = sampler.strip_prefix("parentbased_");
            self.follow_callers = kind.is_some();
            match kind.unwrap_or(&sampler) {
                "always_on" => self.sample = Some(1.0),
                "always_off" => self.sample = Some(0.0),
                "traceidratio" => {
                    let share = variable(SHARE).map_or(Some(1.0), |text| text.parse().ok());
                    match share.filter(|share| (0.0..=1.0).contains(share)) {
                        Some(share) => self.sample = Some(share),
                        None => faults.push(format!("{SHARE} must be a number from 0 to 1")),
                    }
                }
                _ => faults.push(format!(
                    "OTEL_TRACES_SAMPLER is {sampler}: it must be always_on, always_off or traceidratio, each with parentbased_ before it or without"
                )),
            }
        }
        let protocol = PROTOCOLS.iter().find_map(|name| Some((name, variable(name)?)));
        let is_disabled =
            variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if is_disabled || variable("OTEL_TRACES_EXPORTER").is_some_and(|name| name == "none") {
            (self.otlp_endpoint, self.keep) = (None, 0);
        } else if let Some((name, protocol)) = protocol.filter(|(_, text)| text == "grpc") {
            faults.push(format!(
                "{name} is {protocol}: it must be http/protobuf, because spans are sent over HTTP"
            ));
        }
        self
    }

    /// Returns the share of traces that are recorded.
    pub(crate) fn share(&self) -> f64 {
        let usual = if self.otlp_endpoint.is_some() { SAMPLE } else { KEPT_SAMPLE };
        self.sample.unwrap_or(usual)
    }

    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(sample) = self.sample.filter(|sample| !(0.0..=1.0).contains(sample)) {
            faults.push(format!("telemetry.sample is {sample}: it must be 0 to 1"));
        }
        if self.keep > MAX_KEPT {
            let keep = self.keep;
            faults.push(format!("telemetry.keep is {keep}: it must be 0 to {MAX_KEPT}"));
        }
        let is_usable = |text: &String| {
            Url::parse(text).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.has_host()
                    && url.username().is_empty()
                    && url.password().is_none()
            })
        };
        if self.otlp_endpoint.as_ref().is_some_and(|text| !is_usable(text)) {
            faults.push(
                "telemetry.otlp_endpoint cannot be used: write http:// or https:// and a host, such as http://127.0.0.1:4318, for OTLP over HTTP (not gRPC); credentials belong in telemetry.headers_file".to_owned(),
            );
        }
        if self.service_name.is_empty() {
            faults
                .push("telemetry.service_name is empty: write a name, or leave it out".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> (TelemetrySettings, Vec<String>) {
        let find = |name: &str| variables.iter().find(|(own, _)| *own == name);
        let variable = |name: &str| find(name).map(|(_, value)| (*value).to_owned());
        let mut faults = Vec::new();
        let settings = TelemetrySettings::default().with_environment(variable, &mut faults);
        (settings, faults)
    }

    fn with(variables: &[(&str, &str)]) -> TelemetrySettings {
        let (settings, faults) = read(variables);
        assert!(faults.is_empty(), "{faults:?}");
        settings
    }

    #[test]
    fn the_environment_is_that_of_open_telemetry() {
        assert_eq!(with(&[]), TelemetrySettings::default());
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        let set = with(&[
            endpoint,
            ("OTEL_SERVICE_NAME", "staging"),
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ]);
        assert_eq!(set.otlp_endpoint.as_deref(), Some("http://collector:4318"));
        assert_eq!((set.share(), set.follow_callers, &*set.service_name), (0.25, true, "staging"));
        assert!(set.faults().is_empty());
        let all = with(&[("OTEL_TRACES_SAMPLER", "always_on")]);
        assert_eq!((all.share(), all.follow_callers), (1.0, false));
        let disabled = with(&[endpoint, ("OTEL_SDK_DISABLED", "true")]);
        assert_eq!((disabled.otlp_endpoint, disabled.keep), (None, 0));
        assert_eq!((with(&[]).share(), with(&[endpoint]).share()), (0.01, 0.1));
    }

    #[test]
    fn every_fault_names_the_setting() {
        let faulty = |settings: TelemetrySettings, name: &str| {
            let faults = settings.faults();
            assert!(faults.len() == 1 && faults[0].contains(name), "{faults:?}");
        };
        let sample = TelemetrySettings { sample: Some(2.0), ..TelemetrySettings::default() };
        faulty(sample, "telemetry.sample");
        let keep = TelemetrySettings { keep: 1_000_000, ..TelemetrySettings::default() };
        faulty(keep, "telemetry.keep");
        let ratio = ("OTEL_TRACES_SAMPLER", "traceidratio");
        for variables in [
            &[("OTEL_TRACES_SAMPLER", "jaeger_remote")][..],
            &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            &[("OTEL_TRACES_SAMPLER_ARG", "half"), ratio],
            &[("OTEL_TRACES_SAMPLER_ARG", "NaN"), ratio],
            &[("OTEL_TRACES_SAMPLER_ARG", "1.5"), ratio],
        ] {
            let (_, faults) = read(variables);
            assert!(faults.len() == 1 && faults[0].contains(variables[0].0), "{faults:?}");
        }
        for endpoint in ["127.0.0.1:4318", "ftp://host/", "https://user:hunter2@host/"] {
            let otlp_endpoint = Some(endpoint.to_owned());
            let settings = TelemetrySettings { otlp_endpoint, ..TelemetrySettings::default() };
            assert!(!settings.faults()[0].contains("hunter2"));
            faulty(settings, "telemetry.otlp_endpoint");
        }
    }
}
