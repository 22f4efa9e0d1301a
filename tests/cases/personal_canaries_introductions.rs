//! Leaves texts of one person with the capabilities that bring people together and let them speak about each other.

use crate::{
    cases::personal_canaries_planting::Pair,
    harness::{Host, relationships::Person},
};
use serde_json::json;

impl Pair<'_> {
    /// Asks for an introduction, makes one, and writes a reference about the person behind an accepted offer.
    pub async fn leave_introductions(&mut self, host: &Host) {
        let mut canaries = std::mem::take(&mut self.canaries);
        let (cy, dee) = (Person::new(host).await, Person::new(host).await);
        let request = json!({
            "action": "request", "introducer_id": self.bo.id, "target_id": cy.id,
            "reason": canaries.shared("intros", "reason"),
        });
        self.ada.agent().result("intros", request).await;
        dee.call_ok("connect", &self.ada.id).await;
        self.ada.call_kind_ok("accept", "connect", &dee.id).await;
        let request = json!({
            "action": "request", "introducer_id": self.ada.id, "target_id": self.bo.id,
            "reason": "We both like rooms.",
        });
        let asked = dee.agent().result("intros", request).await;
        let forward = json!({
            "action": "respond", "intro_id": asked["intro_id"], "decision": "accept",
            "note": canaries.shared("intros", "note of an introducer"),
        });
        self.ada.agent().result("intros", forward).await;

        host.wait_until_settled().await;
        let encounters = json!({ "action": "encounters" });
        let encounters = self.ada.agent().result("references", encounters).await["items"].clone();
        let write = json!({
            "action": "write", "encounter_id": encounters[0]["encounter_id"],
            "text": canaries.own("references", "draft"),
        });
        self.ada.agent().result("references", write).await;
        self.canaries = canaries;
    }
}
