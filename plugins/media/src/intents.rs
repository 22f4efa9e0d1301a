//! What people say who want an action, for the search of the tools.

pub(crate) const CREATE: &[&str] = &[
    "add a photo to my listing",
    "upload a picture of the room",
    "put my portrait on my profile",
    "attach my CV as a PDF",
    "add photos of the flat to the ad",
    "upload an image",
    "attach a document to the listing",
    "send a picture of the bike I sell",
    "set a profile picture",
    "ein Foto zu meinem Inserat hochladen",
    "ajouter une photo à mon annonce",
    "subir una foto de la habitación",
    "adicionar uma foto ao anúncio",
    "caricare una foto",
];

pub(crate) const GET: &[&str] = &[
    "is my photo ready?",
    "what became of the picture I uploaded?",
    "why was my image refused?",
    "get the address of this picture",
    "ist mein Bild fertig?",
    "ma photo est-elle prête ?",
];

pub(crate) const LIST: &[&str] = &[
    "show my pictures and documents",
    "which files have I uploaded?",
    "list my photos",
    "all PDFs of mine",
    "meine Bilder anzeigen",
    "afficher mes photos",
    "mostrar mis fotos",
];

pub(crate) const ABOUT: &[&str] = &[
    "are there photos of this listing?",
    "show the pictures of the flat",
    "does this person have a profile picture?",
    "look at the images of the ad",
    "see what the room looks like",
    "gibt es Fotos zu diesem Inserat?",
    "voir les photos de l'annonce",
    "ver las fotos del anuncio",
];

pub(crate) const UPDATE: &[&str] = &[
    "move my photo to another listing",
    "make this document private",
    "change the caption of the picture",
    "let everybody see this photo",
    "rename my PDF",
    "das Bild auf privat stellen",
    "rendre la photo privée",
];

pub(crate) const DELETE: &[&str] = &[
    "delete this photo",
    "remove the picture from my listing",
    "take my portrait off my profile",
    "erase the PDF I uploaded",
    "das Foto löschen",
    "supprimer cette photo",
    "borrar la foto",
];
